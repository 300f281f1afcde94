"""Scikit-learn's splitters, with its own checks of splitters, and the recipes of docs/split.md."""
import copy
import pickle
import sys
import unittest
import unittest.mock

import numpy as np
import pandas
import scipy.sparse
import torch
from sklearn.model_selection import GridSearchCV, ShuffleSplit, check_cv, cross_val_predict, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import ocdm
import tap
from test_split import targets

# The module with the checks imports pytest for its own tests; the checks do not need it.
with unittest.mock.patch.dict(sys.modules, {"pytest": unittest.mock.MagicMock()}):
    from sklearn.model_selection.tests.test_split import check_cv_coverage, check_valid_split

SPLITTERS = [ocdm.MultilabelStratifiedKFold(4), ocdm.MultilabelStratifiedKFold(4, shuffle=True, random_state=1),
             ocdm.RepeatedMultilabelStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
             ocdm.MultilabelStratifiedShuffleSplit(4, test_size=0.25, random_state=0)]


class Splitters(unittest.TestCase):
    def test_they_pass_the_checks_of_scikit_learn(self):
        y = targets(120)
        for splitter in SPLITTERS[:2]:
            check_cv_coverage(splitter, np.zeros((120, 2)), y, None, 4)
        for splitter in SPLITTERS:
            pairs = list(splitter.split(np.zeros((120, 2)), y))
            self.assertEqual(len(pairs), splitter.get_n_splits())
            for train, test in pairs:
                check_valid_split(train, test, n_samples=120)
            self.assertIs(check_cv(splitter), splitter)

    def test_they_work_in_scikit_learn(self):
        y = targets(200)
        X = y + np.random.default_rng(0).normal(size=y.shape)
        for splitter in SPLITTERS:
            scores = cross_val_score(KNeighborsClassifier(), X, y, cv=splitter)
            self.assertEqual(len(scores), splitter.get_n_splits())
            self.assertTrue(np.isfinite(scores).all())
        search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, cv=SPLITTERS[0]).fit(X, y)
        self.assertIn(search.best_params_["n_neighbors"], (1, 5))
        self.assertEqual(cross_val_predict(KNeighborsClassifier(), X, y, cv=SPLITTERS[0]).shape, y.shape)

    def test_a_random_state_repeats_and_none_does_not(self):
        y, X = targets(), np.zeros(400)
        tests = lambda splitter: [test.tolist() for _, test in splitter.split(X, y)]
        for splitter in SPLITTERS:
            self.assertEqual(tests(splitter), tests(splitter))
            self.assertEqual(tests(splitter), tests(pickle.loads(pickle.dumps(copy.deepcopy(splitter)))))
        made = lambda state: ocdm.MultilabelStratifiedShuffleSplit(2, random_state=state)
        self.assertNotEqual(tests(made(None)), tests(made(None)))
        self.assertNotEqual(*tests(made(1)))
        self.assertEqual(tests(made(np.random.RandomState(4))), tests(made(np.random.RandomState(4))))
        self.assertEqual(tests(made(np.random.default_rng(4))), tests(made(np.random.default_rng(4))))
        np.random.seed(5)
        first = tests(made(None))
        np.random.seed(5)
        self.assertEqual(tests(made(None)), first)

    def test_sizes_are_those_of_scikit_learn(self):
        y, X = targets(101), np.zeros(101)
        for sizes in ({}, {"test_size": 0.2}, {"train_size": 0.7}, {"test_size": 7}, {"test_size": 10, "train_size": 20},
                      {"test_size": 0.3, "train_size": 0.3}):
            theirs = [tuple(map(len, pair)) for pair in ShuffleSplit(2, **sizes).split(X)]
            ours = [tuple(map(len, pair)) for pair in ocdm.MultilabelStratifiedShuffleSplit(2, **sizes).split(X, y)]
            self.assertEqual(ours, theirs, sizes)

    def test_groups_stay_together(self):
        y, groups = targets(), np.arange(400) // 4
        for splitter in SPLITTERS:
            for train, test in splitter.split(np.zeros(400), y, groups):
                self.assertEqual(set(groups[train]) & set(groups[test]), set())

    def test_mistakes_are_value_errors(self):
        for made, arguments in [(ocdm.MultilabelStratifiedKFold, {"n_splits": 1}), (ocdm.MultilabelStratifiedKFold, {"random_state": 1}),
                                (ocdm.RepeatedMultilabelStratifiedKFold, {"n_repeats": 0}), (ocdm.MultilabelStratifiedShuffleSplit, {"n_splits": 0})]:
            with self.assertRaises(ValueError):
                made(**arguments)
        y = targets(20)
        for splitter, X, labels in [(ocdm.MultilabelStratifiedKFold(), np.zeros(19), y), (ocdm.MultilabelStratifiedKFold(), np.zeros(20), None),
                                    (ocdm.MultilabelStratifiedKFold(21), np.zeros(20), y),
                                    (ocdm.MultilabelStratifiedShuffleSplit(test_size=20), np.zeros(20), y)]:
            with self.assertRaises(ValueError):
                list(splitter.split(X, labels))

    def test_they_say_how_they_were_made(self):
        self.assertEqual(repr(ocdm.MultilabelStratifiedKFold(3)), "MultilabelStratifiedKFold(n_splits=3, shuffle=False, random_state=None)")

class Recipes(unittest.TestCase):
    """One line each, as in docs/split.md."""

    def test_pandas(self):
        frame = pandas.DataFrame(targets(), columns=list("abcdefgh")).assign(text="photo")
        train, test = (frame.iloc[part] for part in ocdm.split(frame[list("abcdefgh")].to_numpy()))
        self.assertEqual((len(train), len(test)), (320, 80))
        self.assertEqual(set(train.index) & set(test.index), set())
        frame["tags"] = [[name for name in "abcdefgh" if row[name]] for _, row in frame.iterrows()]
        self.assertEqual([len(part) for part in ocdm.split(frame["tags"], folds=4)], [100] * 4)

    def test_torch(self):
        dataset = torch.utils.data.TensorDataset(torch.zeros(400, 3), torch.from_numpy(targets()))
        train, test = (torch.utils.data.Subset(dataset, part) for part in ocdm.split(dataset.tensors[1]))
        self.assertEqual((len(train), len(test)), (320, 80))
        self.assertEqual(len(list(torch.utils.data.DataLoader(test, batch_size=8))), 10)

    def test_sparse_matrices(self):
        rows, expected = scipy.sparse.csr_matrix(targets()), ocdm.split(targets())[1].tolist()
        for matrix in (rows, rows.tocoo(), rows.tocsc()):
            self.assertEqual(ocdm.split(matrix)[1].tolist(), expected)


if __name__ == "__main__":
    tap.main()
