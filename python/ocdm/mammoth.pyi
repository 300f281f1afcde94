from typing import Any

from torch import Tensor
from torch.utils.data import DataLoader

from .memory import Memory

class Buffer:
    memory: Memory
    device: Any
    sample_selection_strategy: str
    attributes: list[str]
    attention_maps: list[Any]
    examples: Tensor
    labels: Tensor
    logits: Tensor
    task_labels: Tensor
    true_labels: Tensor
    memory_state: Tensor
    num_seen_examples: int
    buffer_size: int
    def __init__(self, buffer_size: int, device: Any = "cpu", sample_selection_strategy: str = "ocdm", **kwargs: Any) -> None: ...
    def __len__(self) -> int: ...
    @property
    def used_attributes(self) -> list[str]: ...
    def is_empty(self) -> bool: ...
    def is_full(self) -> bool: ...
    def empty(self) -> None: ...
    def add_data(
        self,
        examples: Tensor,
        labels: Tensor | None = None,
        logits: Tensor | None = None,
        task_labels: Tensor | None = None,
        attention_maps: list[Tensor] | None = None,
        true_labels: Tensor | None = None,
        sample_selection_scores: Tensor | None = None,
    ) -> None: ...
    def get_data(
        self,
        size: int,
        transform: Any = None,
        return_index: bool = False,
        device: Any = None,
        mask_task_out: int | None = None,
        cpt: int | None = None,
        return_not_aug: bool = False,
        not_aug_transform: Any = None,
        force_indexes: Any = None,
    ) -> tuple[Tensor, ...]: ...
    def get_balanced_data(self, size: int, transform: Any = None, n_classes: int = -1) -> tuple[Tensor, ...]: ...
    def get_dataloader(
        self,
        args: Any,
        batch_size: int,
        shuffle: bool = False,
        drop_last: bool = False,
        transform: Any = None,
        sampler: Any = None,
    ) -> DataLoader[Any]: ...
    def get_data_by_index(self, indexes: Any, transform: Any = None, device: Any = None) -> tuple[Tensor, ...]: ...
    def get_all_data(self, transform: Any = None, device: Any = None) -> tuple[Tensor, ...]: ...
    def __getitem__(self, index: int, transform: Any = None) -> list[Tensor]: ...
    def to(self, device: Any) -> Buffer: ...
    def serialize(self, out_device: Any = "cpu") -> dict[str, Any]: ...
