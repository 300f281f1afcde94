"""Mammoth's experience replay with a balanced buffer.

    python3 mammoth_er.py [MAMMOTH]

In a model of Mammoth one line changes: `from ocdm.mammoth import Buffer` instead of `from utils.buffer import Buffer`. This is the
step of its model `er`, on a made stream with several labels per sample. With the folder of a checkout of Mammoth the same steps
are made with Mammoth's own reservoir too.
"""
import sys
from typing import Any

import torch

from ocdm.mammoth import Buffer

CLASSES = 8


def observe(model: torch.nn.Module, optimiser: torch.optim.Optimizer, buffer: Any, inputs: torch.Tensor, labels: torch.Tensor) -> float:
    """One step of er: new samples and as many from the buffer, then the new ones are offered to it."""
    samples, targets = inputs, labels
    if not buffer.is_empty():
        old_samples, old_targets = buffer.get_data(len(inputs), device="cpu")[:2]
        samples, targets = torch.cat((inputs, old_samples)), torch.cat((labels, old_targets.float()))
    loss = torch.nn.functional.binary_cross_entropy_with_logits(model(samples), targets)
    optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimiser.step()
    buffer.add_data(examples=inputs, labels=labels)
    return loss.item()


def run(buffer: Any) -> tuple[float, list[int]]:
    torch.manual_seed(0)
    model = torch.nn.Linear(16, CLASSES)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(200):
        chances = torch.zeros(CLASSES)
        chances[4 * (step // 100):4 * (step // 100) + 4] = torch.tensor([0.7, 0.5, 0.2, 0.05])
        labels = (torch.rand(10, CLASSES) < chances).float()
        loss = observe(model, optimiser, buffer, torch.rand(10, 16) + labels.repeat(1, 2), labels)
    return loss, buffer.labels[:len(buffer)].sum(0).int().tolist()


if __name__ == "__main__":
    buffers: dict[str, Any] = {"ocdm.mammoth.Buffer": Buffer(50, seed=0)}
    if len(sys.argv) > 1:
        sys.path.insert(0, sys.argv[1])
        try:
            from utils.buffer import Buffer as Theirs
        except ImportError as error:
            sys.exit(f"error: {sys.argv[1]} is no checkout of Mammoth, or a package that it needs is missing: {error}")
        buffers["Mammoth's reservoir"] = Theirs(50)
    for name, buffer in buffers.items():
        loss, kept = run(buffer)
        print(f"{name:20} last loss {loss:.3f}, samples per class {kept}")
