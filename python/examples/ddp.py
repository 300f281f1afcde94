"""A balanced memory under DistributedDataParallel: every process keeps the payloads of its own samples.

    python3 -m torch.distributed.run --nproc_per_node 2 ddp.py [STEPS]
"""
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import ocdm.distributed


def main(steps: int) -> None:
    dist.init_process_group("gloo")
    rank, classes, width = dist.get_rank(), 8, 16
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Linear(width, classes))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.5)
    memory = ocdm.distributed.Memory(capacity=200)
    samples, targets = torch.zeros(200, width), torch.zeros(200, classes)
    stream = torch.Generator().manual_seed(rank)  # every process has batches of its own
    means = torch.randn(classes, width)
    for step in range(steps):
        y = (torch.rand(10, classes, generator=stream) < torch.logspace(-0.5, -2, classes)).float()
        x = y @ means + 0.3 * torch.randn(10, width, generator=stream)
        slots = torch.from_numpy(memory.draw(10))  # of the samples that this process has
        loss = torch.nn.functional.binary_cross_entropy_with_logits(
            model(torch.cat([x, samples[slots]])), torch.cat([y, targets[slots]]))
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        change = memory.update(None, y)
        slots, items = torch.from_numpy(change.slots), torch.from_numpy(change.items)
        samples[slots], targets[slots] = x[items], y[items]
    print(f"rank {rank}: {len(memory)} samples in all, {(memory.owner == rank).sum()} here, kept", memory.counts["kept"].tolist())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
