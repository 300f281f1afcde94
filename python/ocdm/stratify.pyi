from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .memory import Integers, Label, Labels

_Pairs = Iterator[tuple[Integers, Integers]]
_Seed = int | np.random.RandomState | np.random.Generator | None

def split(
    labels: Labels,
    test_size: float | int = 0.2,
    *,
    parts: Sequence[float] | Sequence[int] | None = None,
    folds: int | None = None,
    groups: ArrayLike | None = None,
    order: int = 2,
    seed: int = 0,
) -> list[Integers]: ...
def select(
    labels: Labels,
    n: int,
    rho: float = 0.0,
    *,
    weights: Mapping[Label, float] | None = None,
    minimum: int | Mapping[Label, int] = 0,
    order: int = 2,
    seed: int = 0,
) -> Integers: ...

class _Splitter:
    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int: ...
    def split(self, X: Any, y: Labels, groups: ArrayLike | None = None) -> _Pairs: ...

class MultilabelStratifiedKFold(_Splitter):
    def __init__(self, n_splits: int = 5, *, shuffle: bool = False, random_state: _Seed = None) -> None: ...

class RepeatedMultilabelStratifiedKFold(_Splitter):
    def __init__(self, *, n_splits: int = 5, n_repeats: int = 10, random_state: _Seed = None) -> None: ...
    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int: ...

class MultilabelStratifiedShuffleSplit(_Splitter):
    def __init__(
        self,
        n_splits: int = 10,
        *,
        test_size: float | int | None = None,
        train_size: float | int | None = None,
        random_state: _Seed = None,
    ) -> None: ...
