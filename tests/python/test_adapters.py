"""ocdm.avalanche against a stand-in for what it uses of Avalanche: ExemplarsBuffer, and datasets with concat and subset."""
import sys
import types
import unittest

import numpy as np

import tap


class Dataset:
    """Samples as ids; like AvalancheDataset, concat and subset give new datasets."""

    def __init__(self, ids, targets):
        self.ids, self.targets = list(ids), list(targets)

    def __len__(self):
        return len(self.ids)

    def concat(self, other):
        return Dataset(self.ids + other.ids, self.targets + other.targets)

    def subset(self, indexes):
        assert isinstance(indexes, list) and len(set(indexes)) == len(indexes) and all(type(i) is int for i in indexes)
        return Dataset([self.ids[i] for i in indexes], [self.targets[i] for i in indexes])


class ExemplarsBuffer:
    def __init__(self, max_size):
        self.max_size, self._buffer = max_size, Dataset([], [])

    @property
    def buffer(self):
        return self._buffer

    @buffer.setter
    def buffer(self, value):
        self._buffer = value

    def update(self, strategy, **kwargs):
        self.post_adapt(strategy, strategy.experience)


for name in ("avalanche", "avalanche.training", "avalanche.training.storage_policy"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["avalanche.training.storage_policy"].ExemplarsBuffer = ExemplarsBuffer

import ocdm
from ocdm.avalanche import OCDMBuffer


def experience(first, classes, count=100, hot=True):
    chance = np.random.default_rng(first)
    targets = np.zeros((count, 12), np.float32)
    for row in targets:
        row[chance.choice(classes, chance.integers(1, 3), replace=False)] = 1
    return Dataset(range(first, first + count), targets if hot else targets.argmax(1))


class Avalanche(unittest.TestCase):
    def follow(self, buffer, first, data, memory):
        buffer.update(types.SimpleNamespace(experience=types.SimpleNamespace(dataset=data)))
        for begin in range(0, len(data), 10):
            memory.update(data.ids[begin:begin + 10], np.array(data.targets[begin:begin + 10]))
        self.assertEqual(buffer.buffer.ids, memory.ids.tolist())

    def test_the_buffer_holds_what_the_memory_chooses(self):
        for hot in (True, False):
            buffer, memory = OCDMBuffer(40, seed=3), ocdm.Memory(40, seed=3)
            self.assertEqual(buffer.max_size, 40)
            for first, classes in ((0, [0, 1, 2]), (100, [3, 4, 5]), (200, [6, 7, 2]), (300, [8, 9])):
                self.follow(buffer, first, experience(first, classes, hot=hot), memory)
            counts = memory.counts["kept"]
            self.assertGreater(counts.min(), 0)

    def test_resize_keeps_the_samples_of_the_memory(self):
        buffer, memory = OCDMBuffer(40), ocdm.Memory(40)
        self.follow(buffer, 0, experience(0, [0, 1, 2, 3]), memory)
        for size in (60, 13, 30):
            buffer.resize(None, size)
            memory.resize(size)
            self.assertEqual(buffer.buffer.ids, memory.ids.tolist())
            self.assertEqual(buffer.max_size, size)
        self.follow(buffer, 100, experience(100, [4, 5]), memory)

    def test_labels_of_ones_own(self):
        buffer = OCDMBuffer(10, labels=lambda data: [[f"class {i % 3}"] for i in data.ids])
        buffer.update_from_dataset(Dataset(range(50), [None] * 50))
        self.assertEqual(sorted(buffer.memory.counts["kept"].tolist()), [3, 3, 4])

    def test_a_dataset_with_wrong_labels_changes_nothing(self):
        buffer = OCDMBuffer(40)
        buffer.update_from_dataset(experience(0, [0, 1]))
        ids, data = buffer.buffer.ids, experience(100, [2, 3])
        data.targets[95][3] = np.nan
        for wrong in (data, types.SimpleNamespace(__len__=None)):
            with self.assertRaises((ValueError, TypeError)):
                buffer.update_from_dataset(wrong)
        self.assertEqual(buffer.buffer.ids, ids)
        self.assertEqual(buffer.memory.arrived, 100)


if __name__ == "__main__":
    tap.main()
