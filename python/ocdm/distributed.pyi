from collections.abc import Callable
from typing import Any, Literal

from numpy.typing import ArrayLike

from . import memory as _memory
from .memory import Ids, Integers, Labels

class Change:
    slots: Integers
    items: Integers
    left_slots: Integers
    moved_from: Integers
    moved_to: Integers
    whole: _memory.Change

class Memory(_memory.Memory):
    group: Any
    def __init__(self, group: Any = None, *args: Any, **options: Any) -> None: ...
    @property
    def rank(self) -> int: ...
    @property
    def owner(self) -> Integers: ...
    def update(self, ids: Ids, labels: Labels, known: ArrayLike | None = None) -> Change: ...  # type: ignore[override]
    def forget(self, id: int) -> Change: ...  # type: ignore[override]
    def begin_task(self) -> Change: ...  # type: ignore[override]
    def resize(self, capacity: int) -> Change: ...  # type: ignore[override]
