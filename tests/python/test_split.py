"""Splits and subsets: sizes, forms of labels, what is balanced, mistakes."""
import unittest

import numpy as np

import ocdm
import tap


def targets(count=400, classes=8, seed=0):
    """Multi-hot labels that depend on each other: the pairs of neighbours are frequent."""
    random = np.random.default_rng(seed)
    first = random.random((count, classes)) < 1 / np.arange(2, classes + 2)
    return (first | (np.roll(first, 1, axis=1) & (random.random((count, classes)) < 0.5))).astype(np.int64)


def largest_error(y, test, share):
    """In samples, over labels and pairs of labels."""
    pairs = (y[:, :, None] * y[:, None, :]).reshape(len(y), -1)
    return np.abs(pairs[test].sum(0) - share * pairs.sum(0)).max()


class Split(unittest.TestCase):
    def test_parts_have_the_sizes_asked_for(self):
        y = targets()
        for arguments, sizes in [({}, [320, 80]), ({"test_size": 100}, [300, 100]), ({"test_size": 0.5}, [200, 200]),
                                 ({"parts": [0.7, 0.2, 0.1]}, [280, 80, 40]), ({"parts": [1, 399]}, [1, 399]),
                                 ({"folds": 3}, [134, 133, 133]), ({"order": 0}, [320, 80]), ({"order": 3}, [320, 80])]:
            parts = ocdm.split(y, **arguments)
            self.assertEqual([len(part) for part in parts], sizes, arguments)
            self.assertEqual(sorted(np.concatenate(parts)), list(range(400)))
            self.assertTrue(all((np.diff(part) > 0).all() for part in parts))

    def test_labels_and_pairs_keep_their_shares(self):
        y = targets()
        random = np.mean([largest_error(y, np.random.default_rng(seed).permutation(400)[:80], 0.2) for seed in range(10)])
        for seed in range(5):
            self.assertLess(largest_error(y, ocdm.split(y, seed=seed)[1], 0.2), random / 2)

    def test_every_form_of_labels_gives_the_same_parts(self):
        y = targets()
        lists = [np.flatnonzero(row).tolist() for row in y]
        offsets, columns = np.cumsum([0] + [len(row) for row in lists]), np.concatenate(lists).astype(int)
        expected = ocdm.split(y, seed=3)[1].tolist()
        for labels in (y.astype(bool), y.astype(float), lists, iter(lists), (offsets, columns)):
            self.assertEqual(ocdm.split(labels, seed=3)[1].tolist(), expected)
        self.assertEqual([len(part) for part in ocdm.split((["a"], ["b"]), parts=[1, 1])], [1, 1])

    def test_groups_stay_together(self):
        y, groups = targets(), np.array([f"patient {i % 100}" for i in range(400)])
        train, test = ocdm.split(y, groups=groups)
        self.assertEqual(len(test), 80)
        self.assertEqual(set(groups[train]) & set(groups[test]), set())

    def test_mistakes_are_value_errors(self):
        y = targets(20)
        for arguments, said in [({"test_size": 0.0}, "share 0"), ({"test_size": 20}, "part 1 is empty"), ({"test_size": 21}, "size"),
                                ({"parts": [10, 11]}, "sum to 20"), ({"parts": [0.5, 0.4]}, "sum to 0.9"), ({"folds": 21}, "more parts, 21"),
                                ({"parts": []}, "no parts"), ({"order": 4}, "order"), ({"groups": [1, 2]}, "2 groups and 20"),
                                ({"groups": [1] * 20}, "than groups, 1"), ({"groups": [1] * 18 + [2, 3]}, "group has 18")]:
            with self.assertRaisesRegex(ValueError, said):
                ocdm.split(y, **arguments)


class Select(unittest.TestCase):
    def test_a_subset_is_balanced_weighted_or_representative(self):
        labels = ["a"] * 600 + ["b"] * 300 + ["c"] * 60
        counts = lambda *arguments, **more: [sum(labels[i] == name for i in ocdm.select(labels, *arguments, **more)) for name in "abc"]
        self.assertEqual(counts(150), [50, 50, 50])
        self.assertEqual(counts(160, 1), [100, 50, 10])
        self.assertEqual(counts(120, weights={"a": 4}), [80, 20, 20])
        self.assertEqual(counts(160, 1, minimum={"c": 40})[2], 40)
        self.assertEqual(counts(210, minimum=65), [75, 75, 60])
        self.assertEqual(counts(150, weights={"nobody": 3}, minimum={"no one": 7}), [50, 50, 50])

    def test_mistakes_are_value_errors(self):
        for arguments, said in [((0,), "wanted"), ((20,), "wanted"), ((5, 2.0), "rho"), ((-1,), "wanted")]:
            with self.assertRaisesRegex(ValueError, said):
                ocdm.select(targets(20), *arguments)
        with self.assertRaisesRegex(ValueError, "need 4 samples"):
            ocdm.select([[1], [2], [3], [4], [4]], 3, minimum=1)


if __name__ == "__main__":
    tap.main()
