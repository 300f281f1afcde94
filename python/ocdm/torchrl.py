"""A writer for TorchRL's replay buffers: an ocdm.Memory says which samples a storage keeps, and where.

    from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer
    from ocdm.torchrl import OCDMWriter

    buffer = TensorDictReplayBuffer(storage=LazyTensorStorage(1000), writer=OCDMWriter("labels", seed=0), batch_size=10)
    buffer.extend(TensorDict({"x": x, "labels": labels}, batch_size=[len(x)]))

Storages, samplers, prefetching and transforms are those of TorchRL, from 0.3 on.
"""
import json
import pathlib

import torch
from torchrl.data.replay_buffers.writers import Writer

from .memory import Memory


class OCDMWriter(Writer):
    """A Writer whose samples an `ocdm.Memory` chooses; its capacity is the `max_size` of the storage.

    labels    the key of the labels in the data, nested as a tuple: [n] integers, or multi-hot [n, C]
    options   those of `ocdm.Memory`: policy, distance, tie, rho, seed and so on

    `extend` returns the index in the storage of each sample, -1 for those that are not kept, as TensorDictMaxValueWriter does.
    """

    def __init__(self, labels="labels", **options):
        super().__init__()
        self.labels, self.options = labels, options
        self.memory, self._write_count = None, 0

    def register_storage(self, storage):
        """Called by the buffer."""
        if getattr(storage, "ndim", 1) > 1:
            raise ValueError("OCDMWriter needs a storage of one dimension: labels are those of its elements")
        super().register_storage(storage)
        if self.memory is None or self.memory.capacity != storage.max_size:
            self.memory = Memory(storage.max_size, **self.options)

    def add(self, data):
        """Offers one element. Its index in the storage, or None if it is not kept."""
        change = self.memory.update(None, self._labels_of(data).unsqueeze(0))
        if not len(change.slots):
            return None
        index = int(change.slots[0])
        data.set("index", torch.full(data.batch_size, index, dtype=torch.long, device=data.device))
        self._storage.set(index, data)
        self._note(index, 1)
        return index

    def extend(self, data):
        """Offers a batch. A tensor with the index of each element in the storage, -1 for those that are not kept."""
        change = self.memory.update(None, self._labels_of(data))
        order = change.slots.argsort()  # a ListStorage grows by one slot after the other
        slots, items = torch.from_numpy(change.slots[order]), torch.from_numpy(change.items[order])
        index = torch.full((data.batch_size[0],), -1, dtype=torch.long)
        index[items] = slots
        if data.device is not None:
            index, slots, items = index.to(data.device), slots.to(data.device), items.to(data.device)
        data.set("index", index.reshape(-1, *[1] * (data.batch_dims - 1)).expand(data.batch_size).clone())
        if len(slots) == 1:  # a ListStorage takes one index for an element, not for a batch of one
            self._storage.set(int(slots[0]), data[int(items[0])])
        elif len(slots):
            self._storage.set(slots, data[items])
        self._note(index, len(slots))
        return index

    def _labels_of(self, data):
        return data.get("_data", default=data).get(self.labels)  # version 0.3 wraps what it is given

    def _note(self, index, count):
        self._write_count += count
        entities = getattr(self._storage, "_attached_entities_iter", None)
        for entity in entities() if entities is not None else self._storage._attached_entities:
            entity.mark_update(index)

    def _empty(self, empty_write_count=True):
        self.memory = self.memory._emptied()
        if empty_write_count:
            self._write_count = 0

    def dumps(self, path):
        """Writes the memory into a folder, for `TensorDictReplayBuffer.dumps`."""
        folder = pathlib.Path(path).absolute()
        folder.mkdir(exist_ok=True)
        self.memory.save(folder / "memory.safetensors")
        (folder / "metadata.json").write_text(json.dumps({"write_count": self._write_count}))

    def loads(self, path):
        """Reads what `dumps` wrote. ValueError if it was of another capacity."""
        folder = pathlib.Path(path).absolute()
        self.memory.load_state_dict(Memory.load(folder / "memory.safetensors").state_dict())
        self._write_count = json.loads((folder / "metadata.json").read_text())["write_count"]

    def state_dict(self):
        """The memory and the number of writes."""
        return {"memory": self.memory.state_dict(), "_write_count": self._write_count}

    def load_state_dict(self, state_dict):
        """Becomes the writer of a state_dict. ValueError if it was of another capacity."""
        self.memory.load_state_dict(state_dict["memory"])
        self._write_count = state_dict["_write_count"]

    def __repr__(self):
        return f"OCDMWriter(labels={self.labels!r}, memory={self.memory!r})"
