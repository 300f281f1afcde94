"""A data collator for Hugging Face's Trainer that adds replayed samples to every batch, and keeps the new ones.

    trainer = Trainer(model, arguments, train_dataset=dataset, data_collator=BalancedCollator(ocdm.Replay(1000), default_data_collator))

With dataloader_num_workers=0, since the memory is of the process that trains. Save `collator.replay` beside the checkpoints.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import ocdm


class BalancedCollator:
    def __init__(self, replay: ocdm.Replay, collate: Callable[[list[Any]], dict[str, torch.Tensor]], samples: int = 8) -> None:
        self.replay, self.collate, self.samples = replay, collate, samples

    def __call__(self, features: list[Any]) -> dict[str, torch.Tensor]:
        batch = dict(self.collate(features))
        old = self.replay.sample(self.samples) if len(self.replay) else None
        self.replay.add(batch, labels=batch["labels"])
        if old is None:
            return batch
        return {name: torch.cat([part, old[name]]) for name, part in batch.items()}
