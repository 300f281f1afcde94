"""A callback for Lightning that keeps a balanced memory: batches come back with replayed samples.

    trainer = Trainer(callbacks=[BalancedReplay(ocdm.Replay(1000), replay=10)])

The batches are pairs (samples, multi-hot or single labels), as tensors on the CPU; the callback makes them longer in place of the loader.
"""
from __future__ import annotations

from typing import Any

import torch

import ocdm

try:
    from lightning.pytorch.callbacks import Callback
except ImportError:
    Callback = object


class BalancedReplay(Callback):  # type: ignore[misc]
    def __init__(self, replay: ocdm.Replay, samples: int = 10) -> None:
        self.replay, self.samples = replay, samples

    def on_train_batch_start(self, trainer: Any, module: Any, batch: list[torch.Tensor], batch_index: int) -> None:
        new = [part.detach().cpu() for part in batch]
        old = self.replay.sample(self.samples) if len(self.replay) else None
        self.replay.add(tuple(new), labels=new[1])
        if old is not None:
            batch[:] = [torch.cat([part, more.to(part.device)]) for part, more in zip(batch, old)]

    def state_dict(self) -> dict[str, Any]:
        return self.replay.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.replay.load_state_dict(state)
