"""Avalanche's ReplayPlugin with a balanced buffer. Needs avalanche-lib.

    python3 avalanche_replay.py

A stream of three experiences with several labels per sample; Avalanche's own ClassBalancedBuffer cannot take such targets.
"""
import sys
from collections.abc import Iterable
from typing import Any

import torch

try:
    from avalanche.benchmarks.utils.classification_dataset import _make_taskaware_classification_dataset as dataset_of
    from avalanche.training.plugins import ReplayPlugin
except ImportError as error:
    sys.exit(f"error: this example needs Avalanche ({error})\nhint: pip install avalanche-lib")

from ocdm.avalanche import OCDMBuffer


class Experience:
    """What ReplayPlugin looks at of a strategy and its experience."""
    train_mb_size = 16
    dataloader: Iterable[Any] | None = None

    def __init__(self, number: int) -> None:
        chance = torch.Generator().manual_seed(number)
        targets = torch.zeros(200, 9)
        targets[:, 3 * number:3 * number + 3] = (torch.rand(200, 3, generator=chance) < torch.tensor([0.9, 0.4, 0.05])).float()
        samples = torch.utils.data.TensorDataset(torch.rand(200, 8, generator=chance), targets)
        self.dataset = self.adapted_dataset = dataset_of(samples, targets=list(targets))
        self.experience = self


def main() -> None:
    buffer = OCDMBuffer(60, seed=0)
    plugin = ReplayPlugin(mem_size=60, storage_policy=buffer)
    for number in range(3):
        strategy = Experience(number)
        plugin.before_training_exp(strategy)  # from the second experience on, batches have new and replayed samples
        batches = 0 if strategy.dataloader is None else sum(1 for _ in strategy.dataloader)
        plugin.after_training_exp(strategy)
        print(f"experience {number}: {batches} mixed batches, samples per class", buffer.memory.counts["kept"].tolist())


if __name__ == "__main__":
    main()
