"""The memory: files, states and copies, on top of the type in C."""
import copy
import json
import os
import sys

from . import _ocdm

_NAMES = "label_names"  # the note of a file that lists labels that are strings
_DTYPES = {"U8": "<u1", "U32": "<u4", "U64": "<u8", "F64": "<f8"}
_CODES = {"|u1": "U8", "<u4": "U32", "<u8": "U64", "<f8": "F64"}
_SIGNED = {"u4": "i4", "u8": "i8"}
_UNSIGNED = {signed: unsigned for unsigned, signed in _SIGNED.items()}
_COUNTS = [("id", "i8"), ("kept", "i8"), ("seen", "i8"), ("target", "f8")]


class Memory(_ocdm.Memory):
    """A replay memory of fixed size for samples with several labels.

    capacity   how many samples it keeps at most
    policy     which samples stay: a name of `ocdm.policies()`, or an object with a method `replace` or `remove`, see below
    distance   what ocdm and onlyone minimise: "kl", "reverse-kl", "l2", "tv"
    tie        which sample is deleted when several are equally good: "key", "oldest", "newest", "uniform"
    rho        power of the target, p_i ~ n_i^rho: 0 means equal shares, 1 those of the stream
    seed       every random choice follows from it; no global generator is used
    batch      the largest batch that is taken without allocating
    tolerance  deletions that leave at most tolerance / S more than the best, S labels in memory and batch, tie with it: with 0.1
               and rho 1 the memory is also spread evenly over the stream; 0 is the paper's rule
    min        how many samples of every class are kept at least while as many were seen, or a dict with those of some labels;
               for the policies ocdm and onlyone with the distance "kl"
    shard      which part of a stream this is, a number, when the parts are sampled separately: see `merge`

    The memory keeps slots, not payloads: slot s of 0..capacity-1 has an id and a label set. Keep payloads in an array and copy
    what `update` says, or use `ocdm.Replay`, which does that.

    >>> import numpy as np
    >>> memory = ocdm.Memory(capacity=100, seed=1)
    >>> payload = np.zeros((100, 8), np.float32)
    >>> for step in range(50):
    ...     replay = payload[memory.draw(10)]                    # train with it, and with the batch
    ...     batch = np.full((10, 8), step, np.float32)
    ...     labels = [[step % 5, 5 + i % 3] for i in range(10)]
    ...     change = memory.update(np.arange(10 * step, 10 * step + 10), labels)
    ...     payload[change.slots] = batch[change.items]
    >>> int(memory.counts["kept"].max() - memory.counts["kept"].min()) <= 14
    True

    One thread at a time may use a memory; a second one gets a RuntimeError.

    A policy of your own is an object with `replace(memory, id, labels)`, asked for each sample once the memory is full: the slot
    that it takes, or None; or with `remove(memory)`, asked while memory and batch are too many together: the slot to delete. It
    may have `admit(memory, id, labels)`, `begin(memory, ids, labels)`, `end(memory, change)` with None after a failure,
    `save(memory)` and `load(memory, data)` for bytes of its own, and a `name`. It may ask the memory, not change it. An exception
    in it, or a slot that does not exist, and the memory is as it was before the batch.

    >>> class Newest:
    ...     def remove(self, memory):
    ...         return int(memory.arrivals.argmin())
    >>> memory = ocdm.Memory(capacity=2, policy=Newest())
    >>> change = memory.update([1, 2, 3], [[0], [0], [0]])
    >>> sorted(memory.ids.tolist())
    [2, 3]
    """

    __slots__ = ("__weakref__",)
    __hash__ = None

    @property
    def counts(self):
        """A structured array, a row per class in order of first appearance: id, kept, seen, target.

        >>> memory = ocdm.Memory(capacity=2)
        >>> change = memory.update([1, 2, 3], [["a"], ["a"], ["b"]])
        >>> memory.counts.tolist()
        [('a', 1, 2, 0.5), ('b', 1, 1, 0.5)]
        """
        import numpy

        rows = self._count_rows()
        counts = numpy.frombuffer(rows, _COUNTS) if rows else numpy.empty(0, _COUNTS)
        names = self.names
        if names is None:
            return counts
        labels = numpy.array([names[number] for number in counts["id"]], str)
        named = numpy.empty(len(counts), [("id", labels.dtype if len(labels) else "U1"), *_COUNTS[1:]])
        named["id"] = labels
        for field, _ in _COUNTS[1:]:
            named[field] = counts[field]
        return named

    # ---- to look at ----

    def plot(self, path=None):
        """The classes against their target as an SVG picture: how many samples in memory have each, the most frequent of the stream first,
        in three groups of equal numbers of classes. A str that notebooks show; with a path it is written there too. ValueError while no
        sample had a label.

        >>> memory = ocdm.Memory(capacity=2)
        >>> change = memory.update([1, 2, 3], [["cat"], ["cat"], ["dog"]])
        >>> picture = memory.plot("classes.svg")
        >>> picture.startswith("<svg"), ">dog<" in picture
        (True, True)
        """
        import numpy

        counts = self.counts
        if not len(counts):
            raise ValueError("no sample had a label yet, so there is nothing to draw")
        counts = counts[numpy.argsort(-counts["seen"], kind="stable")]
        shares = counts["target"] * counts["kept"].sum()
        equal = numpy.ptp(counts["target"]) < 1e-12
        policy = self.policy if isinstance(self.policy, str) else type(self.policy).__name__
        caption = f"{len(self)} of {self.arrived} samples, {len(counts)} classes"
        names, kept = [str(name) for name in counts["id"]], numpy.ascontiguousarray(counts["kept"], "u4")
        return Picture(_ocdm.draw_classes(policy, self.distance(), self.distance("seen"), caption, names, kept,
                                          None if equal else numpy.ascontiguousarray(shares), None if path is None else os.fspath(path)))

    def _repr_html_(self):
        return _html(self)

    # ---- files and states ----

    def save(self, path):
        """Writes the memory to a safetensors file; the old file is replaced when the new one is complete. OSError if that fails.

        >>> memory = ocdm.Memory(capacity=2)
        >>> change = memory.update([1, 2], [["a"], ["b"]])
        >>> memory.save("memory.safetensors")
        >>> ocdm.Memory.load("memory.safetensors") == memory
        True
        """
        place = os.fsencode(path)
        names = self.names
        if names is None:
            self._save_file(place)
        else:
            _pack({**self.state_dict(), _NAMES: names}, os.fsdecode(place))

    @classmethod
    def load(cls, path, policy=None):
        """Reads a memory that `save` or the library in C wrote. It continues exactly as the saved one would have.

        policy   the object, for a memory with a policy of your own
        """
        with open(path, "rb") as file:
            data = file.read()
        return _restored(cls, data, policy, _names_of(data))

    def state_dict(self):
        """Everything that decides what the memory does next, as arrays and strings: the tensors and notes of its file. When PyTorch
        is loaded the arrays are tensors, so that `torch.load(..., weights_only=True)` reads the state.

        >>> memory = ocdm.Memory(capacity=2)
        >>> change = memory.update([1, 2], [[0], [3, 4]])
        >>> state = memory.state_dict()
        >>> state["policy"], state["labels"].tolist()
        ('ocdm', [0, 3, 4])
        >>> other = ocdm.Memory(capacity=2)
        >>> other.load_state_dict(state)
        >>> other == memory
        True
        """
        state = _unpack(self._save_bytes())
        if self.names is not None:
            state[_NAMES] = self.names
        return state

    def load_state_dict(self, state):
        """Becomes the memory of a `state_dict`, with its options. ValueError, and nothing changes, if the state is not whole, or that of
        another capacity: `resize` first."""
        self._restore(*_contents(state, self), False)

    def _emptied(self):
        """A new memory with the same options."""
        return type(self)(self.capacity, self.policy, self.distance_name, self.tie, self.rho, self.seed,
                          tolerance=self.tolerance, min=self.min, shard=self.shard)

    # ---- shards ----

    @classmethod
    def merge(cls, memories, capacity=None):
        """Joins memories that sampled the parts of a stream, in other threads, processes or machines, as `ocdm merge` joins samples.

        What they kept is offered in one batch to a memory that has seen what all of them have seen. The result depends on the memories
        and the numbers of their shards, not on their order. Payloads are found by id: `memory.find(id)` of the one that has it.

        memories   made with different `shard` and otherwise the same options; unchanged. ValueError if they do not go together,
                   KeyError if two kept samples with one id
        capacity   of the result; by default that of the first

        >>> def sample(shard):
        ...     memory = ocdm.Memory(capacity=100, shard=shard)
        ...     for i in range(500):
        ...         change = memory.update([1000 * shard + i], [[i % 2, 7 + shard]])
        ...     return memory
        >>> merged = ocdm.Memory.merge([sample(shard) for shard in range(4)])
        >>> len(merged), merged.arrived, merged.counts["seen"].tolist()
        (100, 2000, [1000, 500, 1000, 500, 500, 500])
        """
        memories = list(memories)
        if not memories or not all(isinstance(memory, _ocdm.Memory) for memory in memories):
            raise ValueError("merge needs a list with at least one Memory")
        memories.sort(key=lambda memory: memory.shard)
        named = [memory.names for memory in memories if memory.names is not None]
        if named and any(memory.names is None and len(memory.counts) for memory in memories):
            raise ValueError("the labels of some memories are strings, those of others numbers")
        names = sorted(set().union(*named)) if named else None
        merged = cls(1)
        merged._merge([_renamed(memory, names) for memory in memories], memories[0].capacity if capacity is None else capacity, names)
        return merged

    # ---- comparing and copying ----

    def __eq__(self, other):
        """Whether both hold the same samples and will make the same decisions."""
        if not isinstance(other, Memory):
            return NotImplemented
        return self is other or (self.names == other.names and self._save_bytes() == other._save_bytes())

    def __reduce__(self):
        return _restored, (type(self), self._save_bytes(), _own_policy(self), self.names)

    def __copy__(self):
        return _restored(type(self), self._save_bytes(), copy.copy(_own_policy(self)), self.names)

    def __deepcopy__(self, memo):
        return _restored(type(self), self._save_bytes(), copy.deepcopy(_own_policy(self), memo), self.names)

    def __repr__(self):
        policy = self.policy if isinstance(self.policy, str) else type(self.policy).__name__
        return f"<ocdm.Memory: {len(self)} of {self.capacity} samples, policy {policy}, {self.arrived} arrived>"


class Picture(str):
    """An SVG picture as text, which notebooks show."""

    def _repr_html_(self):
        return str(self)


def _html(replay):
    """What a notebook shows of a memory or a replay: the line of repr, and the picture."""
    import html

    line = f"<code>{html.escape(repr(replay))}</code>"
    memory = getattr(replay, "memory", replay)
    return line if not len(memory.counts) else f"{line}<div>{memory.plot()}</div>"


def _own_policy(memory):
    return None if isinstance(memory.policy, str) else memory.policy


def _renamed(memory, names):
    """The memory, or a copy whose labels have the numbers that they have in another list of names."""
    import numpy

    if names is None or memory.names == names or not len(memory.names or ()):
        return memory
    state = _unpack(memory._save_bytes(), numpy.asarray)
    place = {name: number for number, name in enumerate(names)}
    number = numpy.array([place[name] for name in memory.names], "u4")
    for key in ("labels", "classes", "weighted_classes", "minimum_classes"):
        if key in state:
            state[key] = number[state[key]]
    rows = numpy.repeat(numpy.arange(len(state["ids"])), numpy.diff(state["label_starts"].astype("i8")))
    state["labels"] = state["labels"][numpy.lexsort((state["labels"], rows))]  # they ascend in each sample
    return _restored(Memory, _pack(state), None, names)


def _restored(cls, data, policy, names):
    memory = cls(capacity=1)
    memory._restore(data, policy, names, True)
    return memory


# ---- safetensors -----------------------------------------------------------------------------------------------------------

def _header(data):
    """The header of a file's bytes, and where the tensors begin; ValueError is left to whoever reads the whole."""
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8:8 + length]), 8 + length


def _names_of(data):
    """The names of the labels in a file, if it has any. Damage is found and described by the library."""
    try:
        note = _header(data)[0]["__metadata__"].get(_NAMES)
        return None if note is None else list(json.loads(note))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _unpack(data, made=None):
    """Notes and arrays of a file's bytes; `made` makes of an array what the state has, by default a tensor if PyTorch is loaded."""
    import numpy

    header, begin = _header(data)
    state = {key: text for key, text in header.pop("__metadata__").items() if key not in ("checksum", _NAMES)}
    for name, entry in header.items():
        first, end = entry["data_offsets"]
        state[name] = (made or _tensor)(numpy.frombuffer(data[begin + first:begin + end], _DTYPES[entry["dtype"]]).copy())
    return state


def _tensor(array):
    """The array, or when PyTorch is loaded a tensor over it. It has no unsigned integers but bytes: the others become signed."""
    torch = sys.modules.get("torch")
    return array if torch is None else torch.from_numpy(array.view(_SIGNED.get(array.dtype.str[1:], array.dtype)))


def _array(name, value):
    import numpy

    array = numpy.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
    array = array.view(_UNSIGNED.get(array.dtype.str[1:], array.dtype))
    code = _CODES.get(array.dtype.str)
    if code is None or array.ndim != 1:
        raise ValueError(f"state: {name} must be an array of one dimension of u1, u4, u8 or f8, not {array.dtype} of shape "
                         f"{array.shape}")
    return name, code, numpy.ascontiguousarray(array)


def _contents(state, memory):
    """What `_restore` takes of a state: bytes, policy, and names."""
    names = state.get(_NAMES) if isinstance(state, dict) else None
    return _pack(state), _own_policy(memory), None if names is None else list(names)


def _pack(state, path=None):
    """The file of a state: its bytes, or written to a path."""
    if not isinstance(state, dict) or not all(isinstance(name, str) for name in state):
        raise ValueError("a state must be a dict as state_dict returns it")
    notes = {name: text for name, text in state.items() if isinstance(text, str)}
    names = state.get(_NAMES)
    if names is not None:
        if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
            raise ValueError(f"state: {_NAMES} must be a list of strings")
        notes[_NAMES] = json.dumps(list(names))
    arrays = [_array(name, value) for name, value in state.items() if not isinstance(value, str) and name != _NAMES]
    arrays.sort(key=lambda array: -array[2].dtype.itemsize)  # the widest first, so that all are aligned
    return _ocdm.pack(notes, arrays, path)
