"""Stratified splits, folds and subsets of multi-label data: each part has its share of every label and of every pair of labels.

    split     index arrays of parts: train and test, any sizes, folds
    select    index array of a subset: balanced, representative, with weights or minimums
    MultilabelStratifiedKFold, RepeatedMultilabelStratifiedKFold, MultilabelStratifiedShuffleSplit    for scikit-learn's `cv=`

Labels come in any form that Memory.update takes. The same seed gives the same result on any machine.
"""
import math
import random

from . import _ocdm


def _group_numbers(groups):
    import numpy
    return None if groups is None else numpy.unique(numpy.asarray(groups), return_inverse=True)[1].astype(numpy.uint32)


def split(labels, test_size=0.2, *, parts=None, folds=None, groups=None, order=2, seed=0):
    """The indices of each part of a stratified split: train and test, or as many parts as asked for.

    test_size   the share of the second of two parts, a float, or its number of samples, an int
    parts       shares that sum to 1, floats, or numbers of samples that sum to all, ints; instead of test_size
    folds       a number of parts of equal size; instead of test_size
    groups      one value for each sample: samples of one value stay in one part
    order       1 balances labels, 2 pairs of labels too, 3 triples too; 0 is a random split

    >>> labels = [["cat"], ["cat", "dog"], ["dog"], ["cat"], ["cat", "dog"], ["dog"]]
    >>> train, test = ocdm.split(labels, test_size=0.5)
    >>> sorted(labels[i] for i in test)
    [['cat'], ['cat', 'dog'], ['dog']]
    """
    return _split(_ocdm.label_sets(labels)[:2], test_size, parts, folds, groups, order, seed)


def _split(sets, test_size=None, parts=None, folds=None, groups=None, order=2, seed=0):
    import numpy
    count = len(sets[0]) - 1
    if folds is not None:
        parts = [count // folds + (fold < count % folds) for fold in range(folds)]
    elif parts is None:
        parts = [1.0 - test_size, test_size] if isinstance(test_size, float) else [count - test_size, test_size]
    part = _ocdm.split_parts(sets, tuple(parts), _group_numbers(groups), order, seed)
    return [numpy.flatnonzero(part == number) for number in range(len(parts))]


def select(labels, n, rho=0.0, *, weights=None, minimum=0, order=2, seed=0):
    """The indices of n samples.

    rho       0: the same number of samples of each label, as far as there are so many; 1: shares as in all samples; or between
    weights   {label: factor} of that number; 1 for all others
    minimum   samples that every label has at least, or all there are; {label: number} for some labels
    order     as in split, with rho 1

    >>> labels = [["cat"]] * 50 + [["dog"]] * 30 + [["fish"]] * 3
    >>> [labels[i][0] for i in ocdm.select(labels, 9)]
    ['cat', 'cat', 'cat', 'dog', 'dog', 'dog', 'fish', 'fish', 'fish']
    """
    import numpy
    *sets, names = _ocdm.label_sets(labels)
    numbers = {name: number for number, name in enumerate(names or ())}
    weights = dict(weights or {})
    minimums = minimum if isinstance(minimum, dict) else dict.fromkeys(weights, minimum)
    others = 0 if isinstance(minimum, dict) else minimum
    named = [(numbers[label] if names else label, minimums.get(label, 0), weights.get(label, 1.0))
             for label in {**weights, **minimums} if not names or label in numbers]
    return numpy.flatnonzero(_ocdm.select_samples(tuple(sets), n, rho, named, others, order, seed))


# ---- scikit-learn's protocol of splitters ------------------------------------------------------------------------------------

def _seed(random_state):
    """A seed as scikit-learn reads one: None, an int, or a generator to draw it from."""
    import numpy
    random_state = numpy.random if random_state is None else random_state
    draw = getattr(random_state, "integers", getattr(random_state, "randint", None))
    return int(draw(2**31)) if draw is not None else int(random_state)


class _Splitter:
    """X is looked at for its length only; y are labels in any form that Memory.update takes."""

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    def get_n_splits(self, X=None, y=None, groups=None):
        """How many splits there are."""
        return self.n_splits

    def split(self, X, y, groups=None):
        """Yields the indices of train and test for each split. Samples of one group stay together."""
        if y is None:
            raise ValueError("y must be the labels of the samples, not None")
        sets = _ocdm.label_sets(y)[:2]
        count, length = len(sets[0]) - 1, X.shape[0] if hasattr(X, "shape") else len(X)
        if length != count:
            raise ValueError(f"X has {length} samples and y has {count}")
        yield from self._pairs(sets, count, groups)


def _pairs_of_folds(sets, folds, groups, seed):
    import numpy
    parts = _split(sets, folds=folds, groups=groups, seed=seed)
    for test in parts:
        yield numpy.sort(numpy.concatenate([part for part in parts if part is not test])), test


class MultilabelStratifiedKFold(_Splitter):
    """Folds of equal size. Without `shuffle` they are those of seed 0; with it `random_state` is the seed.

    >>> folds = ocdm.MultilabelStratifiedKFold(n_splits=2, shuffle=True, random_state=0)
    >>> [len(test) for train, test in folds.split(range(4), [["a", "b"], ["a"], ["a", "b"], ["a"]])]
    [2, 2]
    """

    def __init__(self, n_splits=5, *, shuffle=False, random_state=None):
        if n_splits < 2:
            raise ValueError(f"there must be 2 folds or more, not {n_splits}")
        if random_state is not None and not shuffle:
            raise ValueError("random_state has no effect without shuffle=True")
        self.n_splits, self.shuffle, self.random_state = n_splits, shuffle, random_state

    def _pairs(self, sets, count, groups):
        return _pairs_of_folds(sets, self.n_splits, groups, _seed(self.random_state) if self.shuffle else 0)


class RepeatedMultilabelStratifiedKFold(_Splitter):
    """MultilabelStratifiedKFold several times, each with a seed of its own."""

    def __init__(self, *, n_splits=5, n_repeats=10, random_state=None):
        if n_splits < 2 or n_repeats < 1:
            raise ValueError(f"there must be 2 folds and 1 repeat or more, not {n_splits} and {n_repeats}")
        self.n_splits, self.n_repeats, self.random_state = n_splits, n_repeats, random_state

    def get_n_splits(self, X=None, y=None, groups=None):
        """How many splits there are."""
        return self.n_splits * self.n_repeats

    def _pairs(self, sets, count, groups):
        seeds = random.Random(_seed(self.random_state))
        for _ in range(self.n_repeats):
            yield from _pairs_of_folds(sets, self.n_splits, groups, seeds.getrandbits(31))


class MultilabelStratifiedShuffleSplit(_Splitter):
    """Independent splits into train and test. Sizes as scikit-learn's: a float is a share, an int a number of samples; test is
    a tenth by default, train what is left, and with both given other samples are in neither."""

    def __init__(self, n_splits=10, *, test_size=None, train_size=None, random_state=None):
        if n_splits < 1:
            raise ValueError(f"there must be 1 split or more, not {n_splits}")
        self.n_splits, self.test_size, self.train_size, self.random_state = n_splits, test_size, train_size, random_state

    def _sizes(self, count):
        size = lambda given, rounded: rounded(given * count) if isinstance(given, float) else given
        train, test = size(self.train_size, math.floor), size(self.test_size, math.ceil)
        if test is None:
            test = count - train if train is not None else math.ceil(0.1 * count)
        train = count - test if train is None else train
        if train < 1 or test < 1 or train + test > count:
            raise ValueError(f"{train} samples to train with and {test} to test with are not parts of {count}")
        return [train, test] + [count - train - test] * (train + test < count)

    def _pairs(self, sets, count, groups):
        seeds = random.Random(_seed(self.random_state))
        for _ in range(self.n_splits):
            yield tuple(_split(sets, parts=self._sizes(count), groups=groups, seed=seeds.getrandbits(31))[:2])
