"""Online multi-label training in plain PyTorch: ten new and ten replayed samples per step.

    python3 plain_loop.py [STEPS]

The stream is made up: three tasks with classes of their own, some of them rare. It prints the mean average precision on all
classes after each task, with a balanced memory and with a reservoir of the same size.
"""
import sys
from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray

import ocdm

CLASSES, WIDTH, TASKS = 12, 32, 3


def batches(steps: int, means: torch.Tensor, generator: torch.Generator) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Batches of ten: of task t come classes 4t to 4t + 3, the last of them rarely."""
    for step in range(steps):
        first = 4 * (step * TASKS // steps)
        chances = torch.zeros(CLASSES)
        chances[first:first + 4] = torch.tensor([0.6, 0.4, 0.3, 0.03])
        targets = (torch.rand(10, CLASSES, generator=generator) < chances).float()
        yield targets @ means + 0.3 * torch.randn(10, WIDTH, generator=generator), targets


def mean_average_precision(scores: torch.Tensor, targets: torch.Tensor) -> float:
    order = scores.argsort(0, descending=True)
    hits = targets.gather(0, order)
    precision = hits.cumsum(0) / torch.arange(1, len(hits) + 1)[:, None]
    return float(((precision * hits).sum(0) / hits.sum(0).clamp(min=1)).mean())


def train(policy: str, steps: int) -> tuple[list[float], NDArray[np.int64]]:
    generator = torch.Generator().manual_seed(0)
    means = torch.randn(CLASSES, WIDTH, generator=generator)
    test_targets = (torch.rand(600, CLASSES, generator=generator) < 0.2).float()
    test = test_targets @ means + 0.3 * torch.randn(600, WIDTH, generator=generator)
    torch.manual_seed(0)
    model = torch.nn.Linear(WIDTH, CLASSES)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.006)
    replay, results = ocdm.Replay(60, policy=policy, seed=0), []
    for step, (samples, targets) in enumerate(replay.stream(batches(steps, means, generator), replay=10), start=1):
        loss = torch.nn.functional.binary_cross_entropy_with_logits(model(samples), targets)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        if step % (steps // TASKS) == 0:
            results.append(mean_average_precision(model(test).detach(), test_targets))
    return results, replay.memory.counts["kept"]


if __name__ == "__main__":
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    for policy in ("ocdm", "rs"):
        results, kept = train(policy, steps)
        print(f"{policy:5} mAP after each task:", " ".join(f"{100 * value:5.1f}" for value in results),
              f" samples per class: {kept.min()} to {kept.max()}")
