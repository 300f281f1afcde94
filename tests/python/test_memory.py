"""The memory: what it keeps, what it refuses, how it is saved."""
import unittest

import numpy as np

import ocdm
import tap


class Basics(unittest.TestCase):
    def test_a_batch_is_kept_and_found(self):
        memory = ocdm.Memory(capacity=3)
        change = memory.update([4, 5], [[0, 1], [2]])
        self.assertEqual(change.slots.tolist(), [0, 1])
        self.assertEqual(change.items.dtype, np.int64)
        self.assertTrue(5 in memory and 6 not in memory)
        self.assertEqual(memory.labels(), [[0, 1], [2]])


if __name__ == "__main__":
    tap.main()
