"""An online loop that is saved every hundred steps and, started again after it was killed, ends with the same weights.

    python3 resumed_loop.py RUN.pt [STEPS]
"""
import itertools
import os
import sys
from collections.abc import Iterator

import torch

import ocdm


def batches() -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """The same in every start."""
    generator = torch.Generator().manual_seed(0)
    while True:
        targets = (torch.rand(10, 8, generator=generator) < torch.logspace(-0.5, -2, 8)).float()
        yield targets.repeat(1, 2) + 0.3 * torch.randn(10, 16, generator=generator), targets


def main(path: str, steps: int) -> None:
    torch.manual_seed(0)
    model, replay, first = torch.nn.Linear(16, 8), ocdm.Replay(100, seed=0), 0
    optimiser = torch.optim.Adam(model.parameters())
    if os.path.exists(path):
        saved = torch.load(path)
        model.load_state_dict(saved["model"])
        optimiser.load_state_dict(saved["optimiser"])
        replay.load_state_dict(saved["replay"])  # of the same capacity; resize first for another one
        first = saved["step"]
    stream = itertools.islice(batches(), first, steps)
    for step, (samples, targets) in enumerate(replay.stream(stream, replay=10), first + 1):
        optimiser.zero_grad()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(model(samples), targets)
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        if step % 100 == 0:  # the new samples are in the memory already, so that what is saved is whole
            states: dict[str, object] = {"model": model.state_dict(), "optimiser": optimiser.state_dict()}
            torch.save({**states, "replay": replay.state_dict(), "step": step}, path + ".new")
            os.replace(path + ".new", path)
    print(f"{replay!r}, sum of weights {model.weight.sum().item():.9f}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000)
