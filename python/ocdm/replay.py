"""A memory with payloads."""
import copy
import math
import sys

from .memory import Memory, _contents

LEARNING = 256  # samples from which store="u8" learns its ranges


class Replay:
    """A replay memory with its payloads: any nest of arrays, tensors and objects.

    capacity         how many samples it keeps at most
    capacity_bytes   or: how many bytes of payload; the capacity follows from the first batch, which must have arrays or tensors only
    store            "f32", "f16" or "u8": how floating-point payloads are kept, None: as they come. "u8" keeps a byte per value:
                     offset and scale of each feature are learned from the first 256 samples offered, values beyond that range are
                     clipped to it, and a value is off by half a 255th of its range at most. "f16" clips to 65504. What is sampled
                     has the original type
    options          those of `ocdm.Memory`: policy, distance, tie, rho, seed, batch, tolerance

    A batch is an array or tensor with samples along its first axis, or a tuple, dict, or list with arrays of such. Any other
    list has one object per sample. Tensors stay on their device.

    Samples without labels are kept too, by the library's rule: to delete one changes no class, so it is never better than to delete a
    sample with labels, and they stay once they are in. Leave them out of the batch if they are not wanted:

        chosen = [i for i, labels in enumerate(label_sets) if labels]
        replay.add(x[chosen], [label_sets[i] for i in chosen])

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
        prepared = [leaf.prepared(each, memory.capacity) for leaf, each in zip(leaves, rows)]  # allocates, so before the update
        change = memory.update(ids, labels)
        self._structure, self._leaves = structure, [leaf for leaf, _ in prepared]
        slots, items = change.slots, change.items
        for leaf, each in prepared:
            leaf.put(slots, each, items)
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
        """Draws n samples, fewer if there are fewer: uniform, without replacement. With return_index: (slots, samples). ValueError
        before the first `add`: until then it is not known what a batch consists of.

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
        return self._take(flat) if slots.ndim else _build(self._structure, [leaf.take(flat)[0] for leaf in self._leaves])

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
        return _Sampler(self, batch_size, batches)

    def stream(self, loader, replay=10, labels=None):
        """Yields each batch of a loader together with `replay` samples that were drawn before the batch was added.

        labels   a function of the batch that gives its labels; by default they are the last part of it

        In the body of the loop the batch is in the memory already: a state that is saved there, after the model has learned, is
        whole, and the run goes on with the next batch. A loop that is left by `break` loses nothing.

        >>> import numpy as np
        >>> memory = ocdm.Replay(100)
        >>> loader = [(np.zeros((10, 3)), np.arange(10) % 4) for _ in range(5)]
        >>> [len(x) for x, y in memory.stream(loader, replay=5)]
        [10, 15, 15, 15, 15]
        """
        for batch in loader:
            known = batch[-1] if labels is None else labels(batch)
            joined = _join(self._structure, batch, self.sample(replay)) if len(self) and replay else batch
            self.add(batch, known)
            yield joined

    # ---- changing ----

    def forget(self, id):
        """Deletes a sample on request."""
        return self._follow(self.memory.forget(id), [None] * len(self._leaves))

    def resize(self, capacity):
        """Changes the capacity; a smaller one deletes samples by the policy's rule."""
        spare = [leaf.spare(capacity) for leaf in self._leaves]  # allocated before the memory changes
        return self._follow(self.memory.resize(capacity), spare)

    def clear(self):
        """Starts anew with the same options, as if nothing had been added. Weights of classes are 1 again; a policy of your own keeps
        what it knows."""
        self.memory, self._structure, self._leaves = self.memory._emptied(), None, []

    def to(self, device):
        """Moves the tensors to a device; arrays and objects stay. Returns the replay.

        Batches on any device can be added afterwards; what is sampled is on this one.
        """
        self._leaves = [leaf.to(device) for leaf in self._leaves]
        return self

    def _follow(self, change, spare):
        for leaf, each in zip(self._leaves, spare):
            leaf.follow(change.moved_from, change.moved_to, len(self), each)
        return change

    @property
    def nbytes(self):
        """Bytes that the payloads of the samples in memory take, objects not counted."""
        return sum(leaf.row_bytes() for leaf in self._leaves) * len(self)

    # ---- states ----

    def state_dict(self):
        """Memory and payloads as nested dicts and lists of arrays, tensors and objects. When PyTorch is loaded the arrays are tensors,
        so that `torch.load(..., weights_only=True)` reads the state, unless there are objects that it does not know.

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
        """Becomes the replay of a `state_dict`, with tensors on the devices of those in the state. ValueError, and nothing changes, if
        the state is not whole, or that of another capacity: `resize` first."""
        wanted = {"memory", "store", "capacity_bytes", "structure", "leaves"}
        if not isinstance(state, dict) or set(state) != wanted:
            raise ValueError(f"a state must be a dict with {', '.join(sorted(wanted))}")
        _check_store(state["store"])
        if state["capacity_bytes"] is not None and not (isinstance(state["capacity_bytes"], int) and state["capacity_bytes"] >= 1):
            raise ValueError("state: capacity_bytes must be None or an int of at least 1")
        memory = Memory(1)
        memory._restore(*_contents(state["memory"], self.memory), True)
        undecided = self._bytes is not None and self._structure is None and self._bytes == state["capacity_bytes"]
        if not undecided and memory.capacity != self.memory.capacity:
            raise ValueError(f"the state is of capacity {memory.capacity}, and this is of capacity {self.memory.capacity}; "
                             f"resize({memory.capacity}) first")
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
    def __init__(self, replay, batch_size, batches):
        self.replay, self.batch_size, self.batches = replay, batch_size, batches

    def __iter__(self):
        drawn = 0
        while self.batches is None or drawn < self.batches:
            yield self.replay.memory.draw(self.batch_size)
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


def _is_tensor(value):
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _leaf(value, store):
    if isinstance(value, list):
        return _Objects()
    if not _is_array(value):
        raise ValueError(f"a batch consists of arrays, tensors and lists with a sample each, not of {type(value).__name__}")
    if _is_tensor(value):
        return _tensor_leaf(value.shape[1:], value.dtype, store if value.is_floating_point() else None, value.device)
    return _Rows(value.shape[1:], value.dtype, store if value.dtype.kind == "f" else None, None)


def _tensor_leaf(shape, dtype, store, device):
    near = device.type == "cpu" and dtype != sys.modules["torch"].bfloat16
    return (_Rows if near else _Tensors)(tuple(shape), dtype, store, device)


def _check_store(store):
    if not (store is None or isinstance(store, str) and store in ("f32", "f16", "u8")):
        raise ValueError(f"store must be 'f32', 'f16', 'u8' or None, not {store!r}")


def _dense(value):
    """The numbers of a tensor; ValueError for all else."""
    if not _is_tensor(value):
        raise ValueError("this part of the batch must be a tensor, as in the first batch")
    if value.layout is not sys.modules["torch"].strided or value.is_conj() or value.is_neg():
        raise ValueError("a tensor must be dense, without a conjugate or negative bit: write tensor.to_dense(), tensor.resolve_conj() or "
                         "tensor.resolve_neg()")
    return value.detach()


# ---- states of leaves ----

def _plain(rows):
    """A copy for a state: a tensor when PyTorch is loaded. Of types that it does not have, the bytes of each row."""
    import numpy

    torch = sys.modules.get("torch")
    if rows is None or _is_tensor(rows):
        return None if rows is None else rows.clone()
    rows = numpy.array(rows)
    if torch is None or rows.dtype.hasobject:
        return rows
    try:
        return torch.from_numpy(rows)
    except (TypeError, ValueError):
        width = rows.itemsize * math.prod(rows.shape[1:])
        return torch.from_numpy(numpy.frombuffer(bytearray(rows.tobytes()), "u1").reshape(len(rows), width))


def _restore(state, size, capacity):
    import numpy

    try:
        if "objects" in state:
            leaf = _Objects()
        else:
            dtype, shape, store = state["dtype"], (0, *state["shape"]), state["store"]
            _check_store(store)
            if not isinstance(dtype, (str, list)):
                raise TypeError(f"{dtype!r} is no type of payloads")
            if str(dtype).startswith("torch."):
                torch = sys.modules["torch"]
                leaf = _leaf(torch.empty(shape, dtype=getattr(torch, dtype[6:]), device=state["rows"].device), store)
            else:
                leaf = _leaf(numpy.empty(shape, dtype), store)
            if leaf.store != store:
                raise TypeError(f"{dtype!r} is not kept as {store!r}")
        rows = leaf.restore(state, capacity)
    except (KeyError, TypeError, AttributeError, RuntimeError, OverflowError) as error:
        raise ValueError(f"state: a leaf is damaged: {error!r}") from None
    if rows != size:
        raise ValueError(f"state: {rows} payloads for {size} samples")
    return leaf


# ---- leaves: payloads of one kind, by slot ----

class _Objects:
    def __init__(self):
        self.data = []

    def read(self, value):
        if not isinstance(value, list):
            raise ValueError("this part of the batch must be a list with an object per sample, as in the first batch")
        return list(value)  # what gives the labels might change it

    def prepared(self, rows, capacity):
        self.data += [None] * min(len(rows), capacity - len(self.data))
        return self, rows

    def put(self, slots, rows, items):
        for slot, item in zip(slots.tolist(), items.tolist()):
            self.data[slot] = rows[item]

    def take(self, slots):
        return [self.data[slot] for slot in slots.tolist()]

    def spare(self, capacity):
        return None

    def follow(self, moved_from, moved_to, size, spare):
        for old, new in zip(moved_from.tolist(), moved_to.tolist()):
            self.data[new] = self.data[old]
        del self.data[size:]

    def row_bytes(self):
        return 0

    def to(self, device):
        return self

    def state(self, size):
        return {"objects": self.data[:size]}

    def restore(self, state, capacity):
        self.data = list(state["objects"])
        return len(self.data)


class _Rows:
    """NumPy arrays and tensors of the CPU, which share their memory with arrays."""

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
        try:
            return value.detach().numpy()
        except (AttributeError, TypeError, RuntimeError):  # no tensor, or one that is elsewhere or not dense
            return _dense(value).cpu().numpy()

    def given_back(self, rows):
        if self.device is None:
            return rows if self.store is None else rows.astype(self.dtype, copy=False)
        tensor = sys.modules["torch"].from_numpy(rows)
        return tensor if self.store is None else tensor.to(self.dtype)

    def moved(self, rows):
        """Rows from anywhere where those of this leaf are."""
        import numpy
        return numpy.asarray(rows.cpu() if _is_tensor(rows) else rows)

    def at(self, rows, indexes, out=None):
        return rows.take(indexes, 0, out, "raise" if out is None else "clip")  # "raise" would need a copy of out

    def room_for(self, rows):
        import numpy
        return numpy.empty_like(rows)

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

    @property
    def learning(self):
        return self.store == "u8" and self.scale is None

    @property
    def form(self):
        return "f32" if self.learning else self.store

    def prepared(self, rows, capacity):
        """A leaf with room for the batch, and what its `put` takes of it: all that is allocated. This leaf does not change."""
        leaf = self
        if self.data is None or self.learning:
            leaf = copy.copy(self)
            leaf.make_room(rows, capacity)
        kept = leaf.encoded(rows)
        return leaf, (kept, leaf.room_for(kept))

    def make_room(self, rows, capacity):
        if self.learning:
            self.learn(rows, capacity)
        else:
            self.data = self.empty(capacity, self.store)

    def put(self, slots, kept, items):
        rows, chosen = kept
        if len(slots):
            self.write(slots, self.at(rows, items, chosen[:len(items)]))

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

    def learn(self, rows, capacity):
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

    def spare(self, capacity):
        return None if self.learning or len(self.data) == capacity else self.empty(capacity, self.store)

    def follow(self, moved_from, moved_to, size, spare):
        self.write(moved_to, self.at(self.data, moved_from))
        if spare is not None:
            spare[:size] = self.data[:size]
            self.data = spare

    def to(self, device):
        if self.device is None:
            return self
        leaf = _tensor_leaf(self.shape, self.dtype, self.store, sys.modules["torch"].device(device))
        leaf.learned = self.learned
        for name in ("data", "low", "high", "scale"):
            rows = getattr(self, name)
            setattr(leaf, name, None if rows is None else leaf.moved(rows))
        return leaf

    def row_bytes(self):
        data = self.empty(1, "f32" if self.store == "u8" and self.data is not None and self.scale is None else self.store)
        return data.nbytes if hasattr(data, "nbytes") else data.element_size() * data.nelement()

    def state(self, size):
        name = str(self.dtype) if self.device is not None else self.dtype.descr if self.dtype.names else self.dtype.str
        return {"shape": list(self.shape), "dtype": name, "store": self.store, "rows": _plain(self.data[:size]), "low": _plain(self.low),
                "high": _plain(self.high), "scale": _plain(self.scale), "learned": self.learned}

    def restore(self, state, capacity):
        self.learned = state["learned"]
        single = self.empty(0, "f32").dtype
        for name in ("low", "high", "scale"):
            bound = None if state[name] is None else self.moved(state[name])
            if bound is not None and (tuple(bound.shape) != tuple(self.shape) or bound.dtype != single):
                raise ValueError("state: the ranges of the payloads do not have the type and shape that they should")
            setattr(self, name, bound)
        if not isinstance(self.learned, int) or (self.low is None) != (self.high is None) or (self.scale is not None and self.low is None):
            raise ValueError("state: the ranges of the payloads contradict each other")
        rows, dtype = self.moved(state["rows"]), self.empty(0, self.form).dtype
        if self.device is None and rows.dtype == "u1" and rows.ndim == 2 and rows.dtype != dtype:  # bytes, see _plain
            rows = rows.view(dtype).reshape(len(rows), *self.shape)
        if tuple(rows.shape) != (len(rows), *self.shape) or rows.dtype != dtype or len(rows) > capacity:
            raise ValueError("state: the payloads do not have the type and shape that they should")
        self.data = self.empty(len(rows) if self.learning else capacity, self.form)
        self.data[:len(rows)] = rows
        return len(rows)


class _Tensors(_Rows):
    """Tensors of other devices, and those that NumPy has no type for."""

    def empty(self, count, name):
        torch = sys.modules["torch"]
        dtype = {"f32": torch.float32, "f16": torch.float16, "u8": torch.uint8}.get(name, self.dtype)
        return torch.empty((count, *self.shape), dtype=dtype, device=self.device)

    def rows_of(self, value):
        return _dense(value).to(self.device)

    def given_back(self, rows):
        return rows.to(self.dtype)

    def indexes(self, slots):
        return sys.modules["torch"].from_numpy(slots).to(self.device)

    def moved(self, rows):
        return sys.modules["torch"].as_tensor(rows, device=self.device)

    def at(self, rows, indexes, out=None):
        return sys.modules["torch"].index_select(rows, 0, self.indexes(indexes), out=out)

    def room_for(self, rows):
        return sys.modules["torch"].empty_like(rows)

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
