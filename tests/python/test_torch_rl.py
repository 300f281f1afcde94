"""ocdm.torchrl against a stand-in that has the abstract methods of TorchRL's Writer (0.3 to 0.14) and refuses other calls. The real one, from
its sources: tests/python/real_torchrl.py."""
import abc
import pickle
import sys
import tempfile
import types
import unittest

import torch

import ocdm
import tap


class Writer(abc.ABC):
    def __init__(self, compilable=False):
        self._storage = None

    def register_storage(self, storage):
        self._storage = storage

    add = extend = _empty = dumps = loads = state_dict = load_state_dict = None
    for name in ("add", "extend", "_empty", "dumps", "loads", "state_dict", "load_state_dict"):
        locals()[name] = abc.abstractmethod(lambda self: None)


for name in ("torchrl", "torchrl.data", "torchrl.data.replay_buffers", "torchrl.data.replay_buffers.writers"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["torchrl.data.replay_buffers.writers"].Writer = Writer

from ocdm.torchrl import OCDMWriter


class Data:
    """What a TensorDict has: tensors with common first dimensions."""

    def __init__(self, tensors, batch_size):
        self.tensors, self.batch_size, self.batch_dims, self.device = tensors, torch.Size(batch_size), len(batch_size), None

    def get(self, key, default=None):
        return self.tensors[key] if key in self.tensors else default

    def set(self, key, value):
        assert value.shape[:self.batch_dims] == self.batch_size and value.dtype == torch.long
        self.tensors[key] = value

    def __getitem__(self, index):
        some = {key: value[index] for key, value in self.tensors.items()}
        return Data(some, [len(index)] if torch.is_tensor(index) else [])


class Storage:
    ndim = 1

    def __init__(self, max_size):
        self.max_size, self.held, self.marked = max_size, {}, []

    def set(self, index, data):
        for i, slot in enumerate(index.tolist() if torch.is_tensor(index) else [index]):
            assert 0 <= slot < self.max_size and slot <= len(self.held)
            self.held[slot] = int(data.get("id")[i] if torch.is_tensor(index) else data.get("id"))

    def _attached_entities_iter(self):
        yield types.SimpleNamespace(mark_update=lambda index: self.marked.append(index))


def batch(step, count=10):
    ids = torch.arange(count * step, count * step + count)
    return Data({"id": ids, "labels": ids % 5 * (ids % 2)}, [count])


def filled(steps=20):
    writer, storage = OCDMWriter("labels", seed=1), Storage(12)
    writer.register_storage(storage)
    for step in range(steps):
        writer.extend(batch(step))
    return writer, storage


class TorchRL(unittest.TestCase):
    def test_the_storage_holds_what_the_memory_keeps(self):
        writer, storage = filled()
        plain = ocdm.Memory(12, seed=1)
        for step in range(20):
            plain.update(None, batch(step).get("labels"))
        self.assertEqual([storage.held[slot] for slot in range(12)], plain.ids.tolist())
        data = batch(20)
        index = writer.extend(data)
        change = plain.update(None, data.get("labels"))
        self.assertEqual([(i, slot) for i, slot in enumerate(index.tolist()) if slot >= 0], list(zip(change.items.tolist(), change.slots.tolist())))
        self.assertEqual((data.get("index").tolist(), storage.marked[-1].tolist()), (index.tolist(), index.tolist()))
        for item in range(10):
            one = batch(21)[item]
            change = plain.update(None, one.get("labels")[None])
            self.assertEqual(writer.add(one), int(change.slots[0]) if len(change.slots) else None)
        self.assertEqual([storage.held[slot] for slot in range(12)], plain.ids.tolist())

    def test_states_folders_and_pickles_go_on(self):
        writer, _ = filled()
        other, _ = filled(1)
        other.load_state_dict(writer.state_dict())
        third, _ = filled(1)
        with tempfile.TemporaryDirectory() as folder:
            writer.dumps(folder)
            third.loads(folder)
        for copy in (other, third, pickle.loads(pickle.dumps(writer))):
            self.assertEqual((copy.memory, copy._write_count), (writer.memory, writer._write_count))
        small, _ = filled(1)
        small.register_storage(Storage(5))
        with self.assertRaises(ValueError):
            small.load_state_dict(writer.state_dict())

    def test_empty_starts_anew(self):
        writer, storage = filled()
        writer._empty(empty_write_count=False)
        self.assertEqual((len(writer.memory), writer._write_count > 0), (0, True))
        writer._empty()
        self.assertEqual(writer._write_count, 0)

    def test_a_refused_batch_changes_nothing(self):
        writer, storage = filled()
        before = dict(storage.held), writer.memory._save_bytes()
        bad = batch(30)
        bad.tensors["labels"] = torch.full((10, 3), float("nan"))
        with self.assertRaises(ValueError):
            writer.extend(bad)
        self.assertEqual((storage.held, writer.memory._save_bytes()), before)
        deep = Storage(5)
        deep.ndim = 2
        with self.assertRaises(ValueError):
            OCDMWriter().register_storage(deep)


if __name__ == "__main__":
    tap.main()
