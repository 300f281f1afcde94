from collections.abc import Callable
from typing import Any

from avalanche.training.storage_policy import ExemplarsBuffer

from .memory import Memory

class OCDMBuffer(ExemplarsBuffer):  # type: ignore[misc]
    memory: Memory
    labels: Callable[[Any], Any] | None
    step: int
    def __init__(self, max_size: int, labels: Callable[[Any], Any] | None = None, step: int = 10, **options: Any) -> None: ...
    def post_adapt(self, agent_state: Any, exp: Any) -> None: ...
    def update_from_dataset(self, new_data: Any) -> None: ...
    def resize(self, strategy: Any, new_size: int) -> None: ...
