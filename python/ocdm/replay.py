"""A memory with payloads."""
import functools
import math
import os
import threading

from . import _files
from ._disk import Disk
from ._loader import Loader, Sampler
from ._nest import build, collect, flatten, is_array, is_tensor, join, numbers_of
from ._payload import check_store, payload_of, plain, restored
from .memory import Memory, _contents, _html

_LEAST_LOSS = 1e-6  # a loss of 0 must not keep a sample from ever being drawn


def _alone(method):
    """A method that other threads wait for, and that completes first what was interrupted."""
    @functools.wraps(method)
    def call(self, *args, **kwargs):
        with self._lock:
            if self._unfinished is not None:
                self._complete()
            return method(self, *args, **kwargs)
    return call


class Replay:
    """A replay memory with its payloads: any nest of arrays, tensors and objects.

    capacity         how many samples it keeps at most
    capacity_bytes   or: how many bytes of payload; the capacity follows from the first batch, which must have arrays or tensors only
    store            how payloads are kept, None: as they come. "f32", "f16", "u8" are for floating-point numbers: "u8" keeps a byte per
                     value: offset and scale of each feature are learned from the first 256 samples offered, values beyond that range
                     are clipped to it, and a value is off by half a 255th of its range at most. "f16" clips to 65504.
                     "jpeg:QUALITY:PIXELS" keeps images, bytes of [n, height, width, 3] or [n, 3, height, width], as JPEG, reduced
                     to a shorter side of so many pixels, all in the same room, as `ocdm run --store`; it needs Pillow. What is
                     sampled has the original type and shape
    store_dir        a folder for the payloads, which may be larger than the main memory. The state there is whole whenever the process
                     is killed, and a replay that is made with the same folder goes on from it. See `flush`
    options          those of `ocdm.Memory`: policy, distance, tie, rho, seed, batch, tolerance, min, shard

    A batch is an array or tensor with samples along its first axis, or a tuple, dict, or list with arrays of such. Any other
    list has one object per sample. Tensors stay on their device, each on its own.

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

    Threads may share a replay: a call waits for that of another thread. What is interrupted after the memory has decided, by a Ctrl-C or
    for want of memory, is completed by the next call.
    """

    def __init__(self, capacity=None, *, capacity_bytes=None, store=None, store_dir=None, **options):
        if (capacity is None) == (capacity_bytes is None):
            raise ValueError("give either capacity or capacity_bytes")
        check_store(store)
        if capacity_bytes is not None and capacity_bytes < 1:
            raise ValueError("capacity_bytes must be at least 1")
        self.memory = Memory(1 if capacity is None else capacity, **options)
        self._bytes, self._store = capacity_bytes, store
        self._structure, self._leaves, self._priority = None, [], None
        self._lock, self._unfinished, self._disk = threading.RLock(), None, None
        if store_dir is not None:
            self._open(store_dir)

    # ---- adding and writing ----

    @_alone
    def add(self, batch, labels, ids=None, *, known=None, priority=None):
        """Offers a batch and copies the payloads of the samples that stay. Returns the Change.

        labels, ids, known   those of `Memory.update`. With known, put it into the batch too if what is sampled should have it
        priority             of the samples, one number each, see `update`

        A batch with anything wrong is a ValueError (KeyError for ids), and nothing changes.

        >>> replay = ocdm.Replay(2)
        >>> change = replay.add(["one", "two", "three"], labels=[["a"], ["a"], ["b"]])
        >>> sorted(replay[:]) == sorted(["three", replay[0] if replay[0] != "three" else replay[1]])
        True
        """
        import numpy

        values, fresh = [], self._structure is None
        structure = flatten(batch, values) if fresh else self._structure
        if not fresh:
            collect(structure, batch, values)
        leaves = [payload_of(value, self._store) for value in values] if fresh else self._leaves
        if not leaves:
            raise ValueError("a batch needs at least one array or list")
        rows = [leaf.read(value) for leaf, value in zip(leaves, values)]
        count = _common_length(rows)
        memory = self.memory
        if fresh:
            self._settle(structure, leaves)
        if ids is None:
            ids = numpy.arange(memory.arrived, memory.arrived + count)
        elif not hasattr(ids, "__len__"):
            ids = list(ids)
        if len(ids) != count:
            raise ValueError(f"there are {len(ids)} ids and {count} samples")
        priority = self._numbers(priority, count)
        leaves = [leaf.prepared(each, memory.capacity) for leaf, each in zip(leaves, rows)]  # allocates, so before the update

        def follow(change):
            self._structure, self._leaves = structure, leaves
            self._put(change.slots, leaves, rows, change.items, priority, offered=True)

        return self._decide(lambda: memory.update(ids, labels, known), follow)

    @_alone
    def update(self, slots, *, priority=None, **payload):
        """Writes parts of samples in memory anew: logits for DER++, refreshed features, losses.

        slots      of the samples, as `sample(..., return_index=True)` and Change have them
        priority   of the samples, one number each: what `sample(by="loss")` draws by
        payload    parts of a batch that is a dict, by name, with a row for each slot. For other batches write `replay[slots] = batch`

        Types and shapes are those of the first batch; ValueError otherwise, and nothing changes. A slot that comes twice gets one of
        its rows.

        >>> import numpy as np
        >>> replay = ocdm.Replay(10)
        >>> change = replay.add({"x": np.ones((8, 2)), "logits": np.zeros((8, 3))}, np.arange(8))
        >>> slots, batch = replay.sample(4, return_index=True)
        >>> replay.update(slots, logits=batch["logits"] + 1, priority=[0.5, 0.1, 2, 1])
        >>> replay[:]["logits"].sum(), len(replay.sample(2, by="loss")["x"])
        (12.0, 2)
        """
        slots = self._slots(slots)
        values = {}
        for name, value in payload.items():
            if not isinstance(self._structure, dict) or name not in self._structure:
                raise ValueError(f"a batch has no part named {name!r}; write replay[slots] = batch for batches that are no dict")
            self._match(self._structure[name], value, values)
        self._write(slots, values, self._numbers(priority, slots.size))

    @_alone
    def __setitem__(self, index, batch):
        """Writes whole samples anew: one for an int, a batch for a slice or an array of slots.

        >>> replay = ocdm.Replay(4)
        >>> change = replay.add(["a", "b"], [[0], [1]])
        >>> replay[0] = "A"
        >>> replay[:]
        ['A', 'b']
        """
        slots, values = self._slots(index), {}
        self._match(self._structure, batch, values, slots.ndim == 0)
        self._write(slots, values, None)

    def _match(self, structure, nest, values, one=False):
        """Collects the rows of a nest by the number of the payload that they are for."""
        numbers, parts = [], []
        numbers_of(structure, numbers)
        collect(structure, nest, parts)
        for number, part in zip(numbers, parts):
            leaf = self._leaves[number]
            values[number] = leaf.read(leaf.one(part) if one else part)

    def _write(self, slots, values, priority):
        import numpy

        slots = slots.ravel()
        if any(len(rows) != slots.size for rows in values.values()):
            raise ValueError(f"there are {slots.size} slots and parts of {sorted({len(rows) for rows in values.values()})} samples")
        leaves = [leaf.prepared(values[number], self.memory.capacity) if number in values else leaf
                  for number, leaf in enumerate(self._leaves)]
        rows = [values.get(number) for number in range(len(leaves))]
        everything = numpy.arange(slots.size)

        def write():
            self._leaves = leaves
            self._put(slots, leaves, rows, everything, priority, offered=False)

        self._unfinished = write
        self._complete()

    def _put(self, slots, leaves, rows, items, priority, offered):
        """The one place that copies rows of a batch to slots. Rows that are None stay those that the slots have; `offered`: the samples are new."""
        if priority is not None or self._priority is not None:
            self._note_priorities(slots, None if priority is None else priority[items], offered)
        if self._disk is not None and self._disk.rows is not None:
            self._put_into_files(slots, leaves, rows, items, offered)
            return
        for leaf, each in zip(leaves, rows):
            if each is not None:
                leaf.put(slots, each, items)
        if self._disk is not None:
            self._save_whole()

    def _note_priorities(self, slots, priority, offered):
        import numpy

        if self._priority is None or len(self._priority) != self.memory.capacity:
            self._priority = _resized(self._priority, self.memory.capacity)
        if priority is not None or offered:
            self._priority[slots] = numpy.nan if priority is None else priority

    def _put_into_files(self, slots, leaves, rows, items, offered):
        """Whole samples go to rows that no state refers to; then the slots get these rows."""
        disk, places = self._disk, slots[:0]
        if offered or any(each is not None for each in rows):
            slots, items = _last_of_each(slots, items)
            places = disk.take_rows(len(slots), leaves)
            for leaf, each in zip(leaves, rows):
                if each is None:
                    leaf.data[places] = leaf.data[disk.rows[slots]]
                else:
                    leaf.put(places, each, items)
        self._commit(slots, places, offered)

    @_alone
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

    @_alone
    def sample(self, n, by="uniform", weights=None, replace=False, exclude=None, return_index=False):
        """Draws n samples, without replacement fewer if there are fewer. With return_index: (slots, samples). ValueError before the
        first `add`: until then it is not known what a batch consists of.

        by        "uniform"; "balanced": each class alike, then each of its samples; "loss": by the priorities that `update` and `add`
                  were given. A sample without one has the largest of all. The draws by "balanced" and "loss" are those of
                  `ocdm run --replay-policy`
        weights   a number for each slot, which its chance is multiplied by; 0: it is not drawn
        replace   draw each from all samples, so that some may come twice
        exclude   slots that are not drawn, such as `change.slots`

        >>> import numpy as np
        >>> replay = ocdm.Replay(10)
        >>> change = replay.add(np.arange(8), np.arange(8) % 4)
        >>> slots, values = replay.sample(3, return_index=True)
        >>> values.tolist() == replay[slots].tolist()
        True
        >>> len(replay.sample(20, by="balanced")), len(replay.sample(20, replace=True)), len(replay.sample(20, exclude=slots))
        (8, 20, 5)
        """
        slots = self._draw(n, by, weights, replace, exclude)
        samples = self._take(slots)
        return (slots, samples) if return_index else samples

    @_alone
    def _draw(self, n, by="uniform", weights=None, replace=False, exclude=None):
        if weights is not None or exclude is not None:
            weights, exclude = _near(weights), _near(exclude)
        if by == "loss":
            by, weights = "uniform", self._loss_weights() * (1 if weights is None else weights)
        return self.memory.draw(n, by, weights, replace, exclude)

    def _loss_weights(self):
        import numpy

        if self._priority is None:
            return numpy.ones(len(self))
        known = self._priority[:len(self)].astype("f8")
        unknown = numpy.isnan(known)
        known[unknown] = 1 if unknown.all() else known[~unknown].max()
        return numpy.maximum(known, _LEAST_LOSS)

    def _take(self, slots):
        if self._structure is None:
            raise ValueError("nothing was added yet, so there is nothing to take")
        places = self._places(slots)
        return build(self._structure, [leaf.take(places) for leaf in self._leaves])

    def _places(self, slots):
        return slots if self._disk is None or self._disk.rows is None else self._disk.rows[slots]

    @_alone
    def __getitem__(self, index):
        """One sample for an int; a batch for a slice or an array of slots."""
        slots = self._slots(index)
        if slots.ndim:
            return self._take(slots.ravel())
        places = self._places(slots.ravel())
        return build(self._structure, [leaf.take(places)[0] for leaf in self._leaves])

    def _slots(self, index):
        """The slots that an index means, in its shape. IndexError; ValueError before the first batch."""
        import numpy

        if self._structure is None:
            raise ValueError("nothing was added yet, so there is nothing to take")
        size = len(self)
        slots = numpy.arange(*index.indices(size)) if isinstance(index, slice) else numpy.asarray(_near(index))
        if slots.dtype == bool or (slots.size and slots.dtype.kind not in "iu"):
            raise IndexError("slots are integers")
        slots = numpy.where(slots < 0, slots + size, slots).astype(numpy.int64)
        if slots.size and (slots.min() < 0 or slots.max() >= size):
            raise IndexError(f"a slot is not in use; there are {size}")
        return slots

    def __len__(self):
        return len(self.memory)

    # ---- loops ----

    def loader(self, batch_size, batches=None, *, num_workers=0, pin_memory=False, collate_fn=None, transform=None, **draw):
        """An iterable of sampled batches, which other processes may decode and transform.

        batch_size   samples in a batch
        batches      how many; None: endless
        num_workers  processes of PyTorch's DataLoader; 0: none, and no PyTorch is needed
        pin_memory   puts tensors into page-locked memory
        transform    a function of one sample, as `replay[slot]` is
        collate_fn   a function that makes a batch of a list of samples. Without it batches are those of `sample`, and after a transform
                     those of PyTorch's default_collate
        draw         by, weights, replace, exclude: see `sample`. `weights` may be a function without arguments, called for each draw

        Batches are drawn by this process, in advance for the workers, and each has the samples that were in memory when it was drawn,
        whatever is added meanwhile. So the first batches are the same with any number of workers.

        >>> import numpy as np
        >>> replay = ocdm.Replay(10)
        >>> change = replay.add(np.arange(8), np.arange(8))
        >>> [len(batch) for batch in replay.loader(3, batches=2, by="balanced")]
        [3, 3]
        """
        return Loader(self, batch_size, batches, num_workers, pin_memory, collate_fn, transform, draw)

    def sampler(self, batch_size, batches=None):
        """What a DataLoader takes as sampler: draws of `batch_size` slots, made in the main process, endless or `batches` of them.

            loader = DataLoader(replay, sampler=replay.sampler(10), batch_size=None)

        Worker processes see the payloads as they were when the iteration began; those of `loader` see those of the draw.

        >>> import numpy as np
        >>> replay = ocdm.Replay(10)
        >>> change = replay.add(np.arange(8), np.arange(8))
        >>> [len(slots) for slots in replay.sampler(3, batches=2)]
        [3, 3]
        """
        return Sampler(self, batch_size, batches)

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
            joined = join(self._structure, batch, self.sample(replay)) if len(self) and replay else batch
            self.add(batch, known)
            yield joined

    # ---- changing ----

    @_alone
    def forget(self, id):
        """Deletes a sample on request."""
        return self._reduce(lambda: self.memory.forget(id), None)

    @_alone
    def begin_task(self):
        """Says that the next samples begin a new task, which the policy bat-ocdm must be told."""
        return self._reduce(self.memory.begin_task, None)

    @_alone
    def resize(self, capacity):
        """Changes the capacity; a smaller one deletes samples by the policy's rule."""
        return self._reduce(lambda: self.memory.resize(capacity), [leaf.spare(capacity) for leaf in self._leaves])

    def _reduce(self, decide, spare):
        """Lets samples leave; `spare` has the payloads' room for another capacity, allocated before the memory changes."""
        spare = [None] * len(self._leaves) if spare is None else spare

        def follow(change):
            before, after, size = change.moved_from, change.moved_to, len(self)
            if self._priority is not None:
                self._priority[after] = self._priority[before]
            if self._disk is not None and self._disk.rows is not None:
                self._disk.move(before, after, size, self.memory.capacity)
                self._save_whole()
                return
            for leaf in self._leaves:
                leaf.move(before, after)
            for leaf, each in zip(self._leaves, spare):
                leaf.fit(size, each)
            if self._disk is not None:
                self._save_whole()

        return self._decide(decide, follow)

    @_alone
    def clear(self):
        """Starts anew with the same options, as if nothing had been added. Weights and minimums of classes are those of the options again;
        a policy of your own keeps what it knows."""
        self.memory, self._structure, self._leaves, self._priority = self.memory._emptied(), None, [], None
        if self._disk is not None:
            self._disk.rows = None
            self._save_whole()

    def _decide(self, decide, follow):
        """Lets the memory decide, then does what follows from the Change. An exception in between, such as a Ctrl-C, leaves that to the
        next call."""
        memory, before = self.memory, self.memory._last_change

        def complete():
            if memory._last_change is not before:
                follow(memory._last_change)

        self._unfinished = complete
        try:
            change = decide()
        except Exception:
            if memory._last_change is before:
                self._unfinished = None  # refused
            raise
        self._complete()
        return change

    def _complete(self):
        self._unfinished()
        self._unfinished = None

    def _settle(self, structure, leaves):
        """Sets what follows from the first batch, or refuses it."""
        if (self._store or "").startswith("jpeg") and not any(getattr(leaf, "code", None) and leaf.code.decodes_later for leaf in leaves):
            raise ValueError("store='jpeg:...' needs images of bytes on the CPU: [n, height, width, 3] or [n, 3, height, width], uint8")
        if self._disk is not None:
            self._disk.check(structure, leaves)
        if self._bytes is None:
            return
        size = sum(leaf.row_bytes() for leaf in leaves)
        if size == 0:
            raise ValueError("capacity_bytes needs payloads that are arrays or tensors")
        self.memory.resize(max(1, self._bytes // size))

    def _numbers(self, priority, count):
        """Priorities as an array; ValueError if they are not numbers from 0, one for each sample."""
        import numpy

        if priority is None:
            return None
        priority = numpy.asarray(_near(priority), "f4").ravel()
        if priority.size != count or not (priority >= 0).all() or not numpy.isfinite(priority).all():
            raise ValueError(f"priority must be {count} numbers of at least 0, one for each sample")
        return priority

    def to(self, device):
        """Moves the tensors to a device; arrays and objects stay. Returns the replay.

        Batches on any device can be added afterwards; what is sampled is on this one. Before, each tensor of a batch is on its own.
        """
        with self._lock:
            self._leaves = [leaf.to(device) for leaf in self._leaves]
        return self

    def pin(self):
        """From now on tensors of the CPU that are sampled are in page-locked memory, from which a GPU copies fast. Returns the replay.
        Call it after the first batch."""
        for leaf in self._leaves:
            leaf.pin()
        return self

    @property
    def nbytes(self):
        """Bytes that the payloads of the samples in memory take, objects not counted."""
        return sum(leaf.row_bytes() for leaf in self._leaves) * len(self)

    # ---- to look at ----

    def plot(self, path=None):
        """The classes against their target, see `Memory.plot`."""
        return self.memory.plot(path)

    def _repr_html_(self):
        return _html(self)

    # ---- states and files ----

    @_alone
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
        size = len(self)
        if self._disk is not None and self._disk.rows is not None:
            leaves = [leaf.state(size, False) for leaf in self._leaves]
            for leaf, state in zip(self._leaves, leaves):
                state["rows"] = plain(leaf.data[self._disk.rows[:size]])
        else:
            leaves = [leaf.state(size) for leaf in self._leaves]
        return self._state(leaves)

    def _state(self, leaves):
        priority = None if self._priority is None else plain(self._priority[:len(self)])
        return {"memory": self.memory.state_dict(), "store": self._store, "capacity_bytes": self._bytes,
                "structure": self._structure, "leaves": leaves, "priority": priority}

    @_alone
    def load_state_dict(self, state):
        """Becomes the replay of a `state_dict`, with tensors on the devices of those in the state. ValueError, and nothing changes, if
        the state is not whole, or that of another capacity: `resize` first."""
        if self._disk is not None:
            raise ValueError("a replay with store_dir goes on from what is in its folder; load the state without one, or add its samples")
        memory, leaves, priority = self._read_state(state)
        undecided = self._bytes is not None and self._structure is None and self._bytes == state["capacity_bytes"]
        if not undecided and memory.capacity != self.memory.capacity:
            raise ValueError(f"the state is of capacity {memory.capacity}, and this is of capacity {self.memory.capacity}; "
                             f"resize({memory.capacity}) first")
        self._become(state, memory, leaves, priority)

    def _read_state(self, state):
        """Memory, payloads and priorities of a state. ValueError if it is not whole."""
        wanted = {"memory", "store", "capacity_bytes", "structure", "leaves"}
        if not isinstance(state, dict) or set(state) - {"priority"} != wanted:
            raise ValueError(f"a state must be a dict with {', '.join(sorted(wanted))}")
        check_store(state["store"])
        if state["capacity_bytes"] is not None and not (isinstance(state["capacity_bytes"], int) and state["capacity_bytes"] >= 1):
            raise ValueError("state: capacity_bytes must be None or an int of at least 1")
        memory = Memory(1)
        memory._restore(*_contents(state["memory"], self.memory), True)
        numbers = []
        numbers_of(state["structure"], numbers)
        if not isinstance(state["leaves"], list) or numbers != list(range(len(state["leaves"]))):
            raise ValueError("state: structure and leaves do not fit")
        leaves = [restored(leaf, len(memory), memory.capacity) for leaf in state["leaves"]]
        priority = _near(state.get("priority"))
        if priority is not None:
            if not is_array(priority) or priority.dtype != "f4" or priority.shape != (len(memory),):
                raise ValueError("state: the priorities do not have the type and shape that they should")
            priority = _resized(priority, memory.capacity)
        return memory, leaves, priority

    def _become(self, state, memory, leaves, priority):
        self.memory, self._store, self._bytes = memory, state["store"], state["capacity_bytes"]
        self._structure, self._leaves, self._priority = state["structure"], leaves, priority

    def save(self, path, allow_pickle=False):
        """Writes memory and payloads to a safetensors file, which takes the place of an old one when it is complete. Objects, and batches
        that are named tuples, need allow_pickle; texts and numbers do not.

        >>> import numpy as np
        >>> replay = ocdm.Replay(10)
        >>> change = replay.add(np.arange(8), np.arange(8))
        >>> replay.save("replay.safetensors")
        >>> ocdm.Replay.load("replay.safetensors").sample(3).tolist() == replay.sample(3).tolist()
        True
        """
        _files.write(os.fspath(path), self.state_dict(), allow_pickle)

    @classmethod
    def load(cls, path, allow_pickle=False, policy=None):
        """The replay of a file of `save`, with its options; tensors are on the CPU. OSError, ValueError.

        allow_pickle   read objects, which may run any code: for files that you trust
        policy         the object, for a memory with a policy of your own
        """
        state = _files.read(path, allow_pickle)
        replay = cls(1)
        if policy is not None:
            replay.memory = Memory(1, policy)
        replay._become(state, *replay._read_state(state))
        return replay

    # ---- on disk ----

    def _open(self, folder):
        """Goes on from the state in a folder, if there is one."""
        if not isinstance(self.memory.policy, str):
            raise ValueError("store_dir makes the memory's decisions again from its log: a policy of your own may make others")
        self._disk = disk = Disk(folder)
        try:
            if disk.exists():
                self._recover(disk)
            self._save_whole()
        except BaseException:
            disk.close()
            raise

    def _recover(self, disk):
        state = disk.load()
        memory, leaves, priority = self._read_state(state)
        for name in ("policy", "distance_name", "tie", "rho", "seed", "tolerance", "min", "shard"):
            if getattr(memory, name) != getattr(self.memory, name):
                raise ValueError(f"{disk.folder} has a replay with {name} {getattr(memory, name)}, not {getattr(self.memory, name)}")
        if (self._bytes, self._store) != (state["capacity_bytes"], state["store"]) or \
                (self._bytes is None and memory.capacity != self.memory.capacity):
            raise ValueError(f"{disk.folder} has a replay of capacity {memory.capacity} with store={state['store']!r} and "
                             f"capacity_bytes={state['capacity_bytes']}; resize it afterwards")
        self._become(state, memory, leaves, priority)
        if disk.rows is not None:
            disk.map(leaves)
            for record in disk.records():
                self._redo(*record)
            disk.find_free(leaves)

    def _redo(self, draws, ids, offsets, labels, slots, rows, priorities, names):
        """Makes a change of the log again."""
        memory = self.memory
        while memory._draws < draws:
            memory.draw(0)
        if len(offsets):
            known = (memory.names or []) + names
            sets = (offsets, labels) if not known else [[known[label] for label in labels[a:b]] for a, b in zip(offsets, offsets[1:])]
            memory.update(ids, sets)
        if len(rows):
            self._disk.rows[slots] = rows
        if len(priorities):
            if self._priority is None:
                self._priority = _resized(None, memory.capacity)
            self._priority[slots] = priorities

    def _commit(self, slots, places, offered):
        """Makes a change part of the state on disk: by a record, or by a whole state after changes that no record describes."""
        disk, memory = self._disk, self.memory
        if disk.is_long or memory._changes != disk.changes + offered:
            if len(places):
                disk.exchange(slots, places)
            self._save_whole()
            return
        names = (memory.names or [])[disk.name_count:]
        disk.commit(memory, slots, places, slots[:0].astype("f4") if self._priority is None else self._priority[slots], offered, names)
        disk.name_count += len(names)
        if len(places):
            disk.exchange(slots, places)

    def _save_whole(self):
        """Writes the whole state; payloads that can be in files move there first."""
        disk, memory = self._disk, self.memory
        if disk.rows is None and self._leaves and not any(leaf.learning for leaf in self._leaves):
            disk.attach(self._leaves, len(self), memory.capacity)
        disk.save(self._state([leaf.state(len(self), disk.rows is None) for leaf in self._leaves]), memory)
        disk.name_count = len(memory.names or ())

    @_alone
    def flush(self):
        """Writes everything to the disk that store_dir is on, so that a loss of power leaves at least this state. When a process is
        killed, nothing needs to be flushed."""
        if self._disk is not None:
            self._disk.flush(self._leaves)
            self._save_whole()

    @_alone
    def close(self):
        """Leaves store_dir to others; the replay cannot be changed any more."""
        if self._disk is not None:
            self._disk.close()

    # ---- copies ----

    def __getstate__(self):
        if self._disk is not None:
            raise TypeError("a replay with store_dir cannot be copied: its files are its own; copy what state_dict returns")
        with self._lock:
            if self._unfinished is not None:
                self._complete()
            return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state):
        self.__dict__.update(state, _lock=threading.RLock())

    def __repr__(self):
        distance = self.memory.distance()
        away = "" if math.isnan(distance) else f", {self.memory.distance_name} {distance:.4g} from the target"
        return (f"<ocdm.Replay: {len(self)} of {self.memory.capacity} samples, {len(self.memory.counts)} classes{away}, "
                f"{self.nbytes} bytes>")


def _near(values):
    """Numbers of a tensor as an array; all else as it is."""
    return values.detach().cpu().numpy() if is_tensor(values) else values


def _common_length(rows):
    lengths = [len(each) for each in rows]
    if len(set(lengths)) > 1:
        raise ValueError(f"the parts of the batch have different lengths: {lengths}")
    return lengths[0]


def _resized(priority, capacity):
    import numpy

    larger = numpy.full(capacity, numpy.nan, "f4")
    if priority is not None:
        larger[:len(priority)] = priority[:capacity]
    return larger


def _last_of_each(slots, items):
    """Slots once each, with the last item that is for them."""
    import numpy

    if len(set(slots.tolist())) == len(slots):
        return slots, items
    last = {slot: item for slot, item in zip(slots.tolist(), items.tolist())}
    return numpy.array(list(last), "i8"), numpy.array(list(last.values()), "i8")
