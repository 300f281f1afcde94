"""A memory with payloads."""
import sys

from .memory import Memory

LEARNING = 256  # samples from which store="u8" learns its ranges


class Replay:
    """A replay memory with its payloads: any nest of arrays, tensors and objects.

    capacity         how many samples it keeps at most
    capacity_bytes   or: how many bytes of payload; the capacity follows from the first batch, which must have arrays or tensors only
    store            "f32", "f16" or "u8": how floating-point payloads are kept, None: as they come. "u8" keeps a byte per value:
                     offset and scale of each feature are learned from the first 256 samples offered, values beyond that range are
                     clipped to it, and a value is off by half a 255th of its range at most. "f16" clips to 65504. What is sampled
                     has the original type
    options          those of `ocdm.Memory`: policy, distance, tie, rho, seed, batch

    A batch is an array or tensor with samples along its first axis, or a tuple, dict, or list with arrays of such. Any other
    list has one object per sample. Tensors stay on their device.

    >>> import numpy as np
    >>> replay = ocdm.Replay(100, seed=0)
    >>> for step in range(30):
    ...     batch = {"x": np.random.rand(10, 4), "path": [f"{step}-{i}.jpg" for i in range(10)]}
    ...     change = replay.add(batch, labels=[[step % 3, 3 + i % 2] for i in range(10)])
    >>> sample = replay.sample(5)
    >>> sample["x"].shape, len(sample["path"]), len(replay)
    ((5, 4), 5, 100)
    """

    def __init__(self, capacity=None, *, capacity_bytes=None, store=None, **options):
        if (capacity is None) == (capacity_bytes is None):
            raise ValueError("give either capacity or capacity_bytes")
        _check_store(store)
        if capacity_bytes is not None and capacity_bytes < 1:
            raise ValueError("capacity_bytes must be at least 1")
        self.memory = Memory(1 if capacity is None else capacity, **options)
        self._bytes, self._store = capacity_bytes, store
        self._structure, self._leaves = None, []

    # ---- adding ----

    def add(self, batch, labels, ids=None):
        """Offers a batch and copies the payloads of the samples that stay. Returns the Change.

        labels and ids are those of `Memory.update`. A batch with anything wrong is a ValueError (KeyError for ids), and nothing
        changes.

        >>> replay = ocdm.Replay(2)
        >>> change = replay.add(["one", "two", "three"], labels=[["a"], ["a"], ["b"]])
        >>> sorted(replay[:]) == sorted(["three", replay[0] if replay[0] != "three" else replay[1]])
        True
        """
        import numpy

        values, fresh = [], self._structure is None
        structure = _flatten(batch, values) if fresh else self._structure
        if not fresh:
            _collect(structure, batch, values)
        leaves = [_leaf(value, self._store) for value in values] if fresh else self._leaves
        if not leaves:
            raise ValueError("a batch needs at least one array or list")
        rows = [leaf.read(value) for leaf, value in zip(leaves, values)]
        count = len(rows[0])
        if any(len(each) != count for each in rows):
            raise ValueError(f"the parts of the batch have different lengths: {[len(each) for each in rows]}")
        memory = self.memory
        if fresh:
            self._set_capacity(leaves)
        if ids is None:
            ids = numpy.arange(memory.arrived, memory.arrived + count)
        elif not hasattr(ids, "__len__"):
            ids = list(ids)
        if len(ids) != count:
            raise ValueError(f"there are {len(ids)} ids and {count} samples")
        change = memory.update(ids, labels)
        self._structure, self._leaves = structure, leaves
        slots, items, capacity = change.slots, change.items, memory.capacity
        for leaf, each in zip(leaves, rows):
            leaf.put(slots, each, items, capacity)
        return change

    def _set_capacity(self, leaves):
        if self._bytes is None:
            return
        size = sum(leaf.row_bytes() for leaf in leaves)
        if size == 0:
            raise ValueError("capacity_bytes needs payloads that are arrays or tensors")
        self.memory.resize(max(1, self._bytes // size))

    def learn_one(self, x, y):
        """Adds one sample, as river's models learn: y is a label, a collection of labels, or a dict of label to bool.

        >>> replay = ocdm.Replay(10).learn_one({"age": 3}, {"cat": True, "dog": False})
        >>> replay.sample(1), replay.memory.labels(0)
        (([{'age': 3}], [{'cat': True, 'dog': False}]), ['cat'])
        """
        labels = [label for label, value in y.items() if value] if isinstance(y, dict) else int(y) if isinstance(y, bool) else y
        self.add(([x], [y]), [labels])
        return self

    def partial_fit(self, X, Y, classes=None):
        """Adds a batch, as scikit-learn's models learn: Y is [n] or [n, C]. Samples are pairs (X, Y). `classes` is ignored.

        >>> import numpy as np
        >>> replay = ocdm.Replay(10).partial_fit(np.zeros((3, 2)), np.array([[1, 0], [0, 1], [1, 1]]))
        >>> X, Y = replay.sample(2)
        >>> X.shape, Y.shape
        ((2, 2), (2, 2))
        """
        self.add((X, Y), Y)
        return self

    # ---- taking ----

    def sample(self, n, return_index=False):
        """Draws n samples, fewer if there are fewer: uniform, without replacement. With return_index: (slots, samples).

        >>> import numpy as np
        >>> replay = ocdm.Replay(10)
        >>> change = replay.add(np.arange(8), np.arange(8))
        >>> slots, values = replay.sample(3, return_index=True)
        >>> values.tolist() == replay[slots].tolist()
        True
        """
        slots = self.memory.draw(n)
        samples = self._take(slots)
        return (slots, samples) if return_index else samples

    def _take(self, slots):
        if self._structure is None:
            raise ValueError("nothing was added yet, so there is nothing to take")
        return _build(self._structure, [leaf.take(slots) for leaf in self._leaves])

    def __getitem__(self, index):
        """One sample for an int; a batch for a slice or an array of slots."""
        import numpy

        if isinstance(index, slice):
            return self._take(numpy.arange(*index.indices(len(self))))
        slots = numpy.asarray(index)
        if slots.dtype == bool or (slots.size and slots.dtype.kind not in "iu"):
            raise IndexError("slots are integers")
        size = len(self)
        flat = numpy.where(slots < 0, slots + size, slots).astype(numpy.int64).ravel()
        if flat.size and (flat.min() < 0 or flat.max() >= size):
            raise IndexError(f"a slot is not in use; there are {size}")
        taken = [leaf.take(flat) for leaf in self._leaves]
        return _build(self._structure, [part[0] for part in taken] if slots.ndim == 0 else taken)

    def __len__(self):
        return len(self.memory)

    def sampler(self, batch_size, batches=None):
        """What a DataLoader takes as sampler: draws of `batch_size` slots, made in the main process, endless or `batches` of them.

            loader = DataLoader(replay, sampler=replay.sampler(10), batch_size=None)

        Worker processes see the payloads as they were when the iteration began.

        >>> import numpy as np
        >>> replay = ocdm.Replay(10)
        >>> change = replay.add(np.arange(8), np.arange(8))
        >>> [len(slots) for slots in replay.sampler(3, batches=2)]
        [3, 3]
        """
        return _Sampler(self.memory, batch_size, batches)

    def stream(self, loader, replay=10, labels=None):
        """Yields each batch of a loader together with `replay` replayed samples, and adds the batch afterwards.

        labels   a function of the batch that gives its labels; by default they are the last part of it

        >>> import numpy as np
        >>> memory = ocdm.Replay(100)
        >>> loader = [(np.zeros((10, 3)), np.arange(10) % 4) for _ in range(5)]
        >>> [len(x) for x, y in memory.stream(loader, replay=5)]
        [10, 15, 15, 15, 15]
        """
        for batch in loader:
            known = batch[-1] if labels is None else labels(batch)
            if len(self) and replay:
                yield _join(self._structure, batch, self.sample(replay))
            else:
                yield batch
            self.add(batch, known)

    # ---- changing ----

    def forget(self, id):
        """Deletes a sample on request."""
        return self._follow(self.memory.forget(id))

    def resize(self, capacity):
        """Changes the capacity; a smaller one deletes samples by the policy's rule."""
        return self._follow(self.memory.resize(capacity))

    def _follow(self, change):
        for leaf in self._leaves:
            leaf.follow(change.moved_from, change.moved_to, len(self), self.memory.capacity)
        return change

    @property
    def nbytes(self):
        """Bytes that the payloads of the samples in memory take, objects not counted."""
        return sum(leaf.row_bytes() for leaf in self._leaves) * len(self)

    # ---- states ----

    def state_dict(self):
        """Memory and payloads as nested dicts and lists of arrays, tensors and objects.

        >>> import numpy as np
        >>> replay = ocdm.Replay(10)
        >>> change = replay.add(np.arange(8), np.arange(8))
        >>> other = ocdm.Replay(10)
        >>> other.load_state_dict(replay.state_dict())
        >>> other.sample(3).tolist() == replay.sample(3).tolist()
        True
        """
        return {"memory": self.memory.state_dict(), "store": self._store, "capacity_bytes": self._bytes,
                "structure": self._structure, "leaves": [leaf.state(len(self)) for leaf in self._leaves]}

    def load_state_dict(self, state):
        """Becomes the replay of a `state_dict`. ValueError, and nothing changes, if the state is not whole."""
        wanted = {"memory", "store", "capacity_bytes", "structure", "leaves"}
        if not isinstance(state, dict) or set(state) != wanted:
            raise ValueError(f"a state must be a dict with {', '.join(sorted(wanted))}")
        _check_store(state["store"])
        if state["capacity_bytes"] is not None and not (isinstance(state["capacity_bytes"], int) and state["capacity_bytes"] >= 1):
            raise ValueError("state: capacity_bytes must be None or an int of at least 1")
        memory = Memory(1, policy=self.memory.policy)
        memory.load_state_dict(state["memory"])
        numbers = []
        _flatten_numbers(state["structure"], numbers)
        if not isinstance(state["leaves"], list) or numbers != list(range(len(state["leaves"]))):
            raise ValueError("state: structure and leaves do not fit")
        leaves = [_restore(leaf, len(memory), memory.capacity) for leaf in state["leaves"]]
        self.memory, self._store, self._bytes = memory, state["store"], state["capacity_bytes"]
        self._structure, self._leaves = state["structure"], leaves

    def __repr__(self):
        return f"<ocdm.Replay: {len(self)} of {self.memory.capacity} samples, {self.nbytes} bytes>"


class _Sampler:
    def __init__(self, memory, batch_size, batches):
        self.memory, self.batch_size, self.batches = memory, batch_size, batches

    def __iter__(self):
        drawn = 0
        while self.batches is None or drawn < self.batches:
            yield self.memory.draw(self.batch_size)
            drawn += 1

    def __len__(self):
        if self.batches is None:
            raise TypeError("an endless sampler has no length")
        return self.batches


# ---- nests: the structure is the nest with the numbers of its leaves ----

def _is_array(value):
    return hasattr(value, "shape") and hasattr(value, "dtype") and len(value.shape) > 0


def _is_nest(value):
    return isinstance(value, (tuple, dict)) or (isinstance(value, list) and any(map(_is_array, value)))


def _rebuilt(nest, parts):
    """A nest of the same type with other parts."""
    if isinstance(nest, dict):
        return dict(zip(nest, parts))
    return type(nest)(*parts) if hasattr(nest, "_fields") else type(nest)(parts)


def _parts(nest):
    return nest.values() if isinstance(nest, dict) else nest


def _flatten(value, leaves):
    if _is_nest(value):
        return _rebuilt(value, [_flatten(part, leaves) for part in _parts(value)])
    leaves.append(value)
    return len(leaves) - 1


def _flatten_numbers(structure, numbers):
    if isinstance(structure, (tuple, list, dict)):
        for part in _parts(structure):
            _flatten_numbers(part, numbers)
    elif structure is not None:
        numbers.append(structure)


def _collect(structure, value, leaves):
    """The leaves of a batch of the known structure."""
    if isinstance(structure, int):
        leaves.append(value)
    elif isinstance(structure, dict):
        if not isinstance(value, dict) or value.keys() != structure.keys():
            raise ValueError(f"the batch must be a dict with {list(structure)}")
        for key, part in structure.items():
            _collect(part, value[key], leaves)
    else:
        if not isinstance(value, (tuple, list)) or len(value) != len(structure):
            raise ValueError(f"the batch must have {len(structure)} parts, as the first one had")
        for part, item in zip(structure, value):
            _collect(part, item, leaves)


def _build(structure, values):
    if isinstance(structure, int):
        return values[structure]
    return _rebuilt(structure, [_build(part, values) for part in _parts(structure)])


def _join(structure, batch, more):
    """Two batches after one another, as a nest of the structure."""
    if isinstance(structure, int):
        if isinstance(batch, list):
            return batch + more
        if _is_tensor(batch):
            return sys.modules["torch"].cat([batch, more.to(batch.device)])
        import numpy
        return numpy.concatenate([batch, more])
    if isinstance(structure, dict):
        return {key: _join(part, batch[key], more[key]) for key, part in structure.items()}
    return _rebuilt(structure, [_join(part, a, b) for part, a, b in zip(structure, batch, more)])


# ---- leaves: payloads of one kind, by slot ----

def _is_tensor(value):
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _leaf(value, store):
    if isinstance(value, list):
        return _Objects()
    if not _is_array(value):
        raise ValueError(f"a batch consists of arrays, tensors and lists with a sample each, not of {type(value).__name__}")
    if _is_tensor(value):
        torch = sys.modules["torch"]
        near = value.device.type == "cpu" and value.dtype != torch.bfloat16
        leaf = _Rows if near else _Tensors
        return leaf(tuple(value.shape[1:]), value.dtype, store if value.is_floating_point() else None, value.device)
    return _Rows(value.shape[1:], value.dtype, store if value.dtype.kind == "f" else None, None)


def _check_store(store):
    if not (store is None or isinstance(store, str) and store in ("f32", "f16", "u8")):
        raise ValueError(f"store must be 'f32', 'f16', 'u8' or None, not {store!r}")


def _check_type(dtype, device):
    if device is None:
        import numpy
        known = isinstance(dtype, numpy.dtype)
    else:
        torch = sys.modules.get("torch")
        known = torch is not None and isinstance(dtype, torch.dtype) and isinstance(device, (str, torch.device))
    if not known:
        raise ValueError(f"state: {dtype!r} on {device!r} is no type of payloads")


def _restore(state, size, capacity):
    try:
        kind, rows = state["kind"], state["rows"]
        if not isinstance(kind, str):
            raise TypeError(f"{kind!r} is no kind of leaf")
        leaf = _Objects() if kind == "objects" else _KINDS[kind](tuple(state["shape"]), state["dtype"], state["store"], state["device"])
        leaf.restore(state, rows, capacity)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"state: a leaf is damaged: {error!r}") from None
    if len(rows) != size:
        raise ValueError(f"state: {len(rows)} payloads for {size} samples")
    return leaf


class _Objects:
    def __init__(self):
        self.data = []

    def read(self, value):
        if not isinstance(value, list):
            raise ValueError("this part of the batch must be a list with an object per sample, as in the first batch")
        return value

    def put(self, slots, rows, items, capacity):
        slots = slots.tolist()
        self.data += [None] * (max(slots, default=-1) + 1 - len(self.data))
        for slot, item in zip(slots, items.tolist()):
            self.data[slot] = rows[item]

    def take(self, slots):
        return [self.data[slot] for slot in slots.tolist()]

    def follow(self, moved_from, moved_to, size, capacity):
        for old, new in zip(moved_from.tolist(), moved_to.tolist()):
            self.data[new] = self.data[old]
        del self.data[size:]

    def row_bytes(self):
        return 0

    def state(self, size):
        return {"kind": "objects", "rows": self.data[:size]}

    def restore(self, state, rows, capacity):
        self.data = list(rows)


class _Rows:
    """NumPy arrays and tensors of the CPU, which share their memory with arrays."""
    kind = "rows"

    def __init__(self, shape, dtype, store, device):
        self.shape, self.dtype, self.store, self.device = shape, dtype, store, device
        self.data = self.low = self.high = self.scale = None
        self.learned = 0

    # What differs between arrays and tensors:

    def empty(self, count, name):
        import numpy
        plain = {"f32": "f4", "f16": "f2", "u8": "u1"}.get(name) or (self._plain() if self.device is not None else self.dtype)
        return numpy.empty((count, *self.shape), plain)

    def _plain(self):
        torch = sys.modules["torch"]
        return torch.empty(0, dtype=self.dtype).numpy().dtype

    def rows_of(self, value):
        if self.device is None:
            if _is_tensor(value):
                raise ValueError("this part of the batch must be an array, as in the first batch, not a tensor")
            return value
        if not _is_tensor(value):
            raise ValueError("this part of the batch must be a tensor, as in the first batch")
        return value.detach().numpy()

    def given_back(self, rows):
        if self.device is None:
            return rows if self.store is None else rows.astype(self.dtype, copy=False)
        tensor = sys.modules["torch"].from_numpy(rows)
        return tensor if self.store is None else tensor.to(self.dtype)

    def at(self, rows, indexes):
        return rows.take(indexes, 0)

    def write(self, slots, rows):
        self.data[slots] = rows

    def range_of(self, rows):
        return rows.min(0), rows.max(0)

    def widest(self, a, b, low):
        import numpy
        return numpy.minimum(a, b) if low else numpy.maximum(a, b)

    def as_type(self, rows, name):
        return rows.astype({"f32": "f4", "f16": "f2", "u8": "u1"}[name])

    # What does not:

    def read(self, value):
        if not _is_array(value) or tuple(value.shape[1:]) != tuple(self.shape) or value.dtype != self.dtype:
            found = f"{value.dtype} of shape {tuple(value.shape)}" if _is_array(value) else type(value).__name__
            raise ValueError(f"this part of the batch must be {self.dtype} of shape (n, {', '.join(map(str, self.shape))}), as in "
                             f"the first batch, not {found}")
        rows = self.rows_of(value)
        if self.store == "u8" and len(rows) and not bool((abs(rows) <= 3e38).all()):
            raise ValueError("store='u8' cannot keep NaN, infinity or values beyond 3e38")
        return rows

    def put(self, slots, rows, items, capacity):
        if self.store == "u8" and self.scale is None:
            self.learn(rows, slots, capacity)
        elif self.data is None:
            self.data = self.empty(capacity, self.store)
        if len(slots):
            self.write(slots, self.encoded(self.at(rows, items)))

    def take(self, slots):
        rows = self.at(self.data, slots)
        if self.scale is not None:
            rows = self.as_type(rows, "f32") * self.scale + self.low
        return self.given_back(rows)

    def encoded(self, rows):
        if self.store is None:
            return rows
        if self.store == "f16":
            return self.as_type(rows.clip(-65504, 65504), "f16")
        if self.store == "f32" or self.scale is None:
            return self.as_type(rows, "f32")
        return self.as_type(((self.as_type(rows, "f32") - self.low) / self.scale).clip(0, 255).round(), "u8")

    def learn(self, rows, slots, capacity):
        """Notes the range of each feature; after enough samples offset and scale are fixed, and what is stored is encoded."""
        if self.learned >= LEARNING:
            self.fix(capacity)
            return
        if len(rows):
            low, high = self.range_of(self.as_type(rows, "f32"))
            self.low = low if self.low is None else self.widest(self.low, low, True)
            self.high = high if self.high is None else self.widest(self.high, high, False)
        self.learned += len(rows)
        self.grow(min(capacity, self.learned))

    def grow(self, count):
        old, self.data = self.data, self.empty(count, "f32")
        self.data[...] = 0
        if old is not None:
            self.data[:len(old)] = old[:count]

    def fix(self, capacity):
        old = self.data
        scale = (self.high - self.low) / 255
        self.scale = self.as_type(scale + (scale == 0), "f32")
        self.data = self.empty(capacity, "u8")
        self.data[:len(old)] = self.encoded(old)

    def follow(self, moved_from, moved_to, size, capacity):
        rows = self.at(self.data, moved_from)
        old, learning = self.data, self.store == "u8" and self.scale is None
        self.write(moved_to, rows)
        if not learning and len(old) != capacity:
            self.data = self.empty(capacity, self.store)
            self.data[:size] = old[:size]

    def row_bytes(self):
        data = self.empty(1, "f32" if self.store == "u8" and self.data is not None and self.scale is None else self.store)
        return data.nbytes if hasattr(data, "nbytes") else data.element_size() * data.nelement()

    def state(self, size):
        rows = self.data[:size]
        return {"kind": self.kind, "shape": list(self.shape), "dtype": self.dtype, "store": self.store, "device": self.device,
                "rows": rows.copy() if hasattr(rows, "copy") else rows.clone(), "low": self.low, "high": self.high,
                "scale": self.scale, "learned": self.learned}

    def restore(self, state, rows, capacity):
        _check_store(self.store)
        _check_type(self.dtype, self.device)
        self.low, self.high, self.scale, self.learned = (state[key] for key in ("low", "high", "scale", "learned"))
        single = self.empty(0, "f32").dtype
        for bound in (self.low, self.high, self.scale):
            if bound is not None and (tuple(bound.shape) != tuple(self.shape) or bound.dtype != single):
                raise ValueError("state: the ranges of the payloads do not have the type and shape that they should")
        if not isinstance(self.learned, int) or (self.low is None) != (self.high is None) or (self.scale is not None and self.low is None):
            raise ValueError("state: the ranges of the payloads contradict each other")
        learning = self.store == "u8" and self.scale is None
        self.data = self.empty(len(rows) if learning else capacity, "f32" if learning else self.store)
        if tuple(rows.shape) != (len(rows), *self.shape) or rows.dtype != self.data.dtype or len(rows) > len(self.data):
            raise ValueError("state: the payloads do not have the type and shape that they should")
        self.data[:len(rows)] = rows


class _Tensors(_Rows):
    """Tensors of other devices, and those that NumPy has no type for."""
    kind = "tensors"

    def empty(self, count, name):
        torch = sys.modules["torch"]
        dtype = {"f32": torch.float32, "f16": torch.float16, "u8": torch.uint8}.get(name, self.dtype)
        return torch.empty((count, *self.shape), dtype=dtype, device=self.device)

    def rows_of(self, value):
        if not _is_tensor(value):
            raise ValueError("this part of the batch must be a tensor, as in the first batch")
        return value.detach().to(self.device)

    def given_back(self, rows):
        return rows.to(self.dtype)

    def indexes(self, slots):
        return sys.modules["torch"].from_numpy(slots).to(self.device)

    def at(self, rows, indexes):
        return rows.index_select(0, self.indexes(indexes))

    def write(self, slots, rows):
        self.data.index_copy_(0, self.indexes(slots), rows)

    def range_of(self, rows):
        return rows.amin(0), rows.amax(0)

    def widest(self, a, b, low):
        torch = sys.modules["torch"]
        return torch.minimum(a, b) if low else torch.maximum(a, b)

    def as_type(self, rows, name):
        torch = sys.modules["torch"]
        return rows.to({"f32": torch.float32, "f16": torch.float16, "u8": torch.uint8}[name])


_KINDS = {"rows": _Rows, "tensors": _Tensors}
