"""ocdm.distributed: two and four processes hold the memory of one that sees the joined batches, for 1,000 steps."""
import os
import random
import tempfile
import traceback
import unittest

import numpy as np
import torch
import torch.distributed as dist

import ocdm
import tap

STEPS = 1000
OPTIONS = dict(capacity=90, seed=5, rho=0.3)


def batch_of(rank, step):
    """Ids and labels that a rank offers: of different lengths, sometimes none."""
    chance = random.Random(1000 * step + rank)
    count = chance.randint(0, 6)
    return [100 * (step * 8 + rank) + i for i in range(count)], [sorted(chance.sample(range(9), chance.randint(0, 3))) for _ in range(count)]


def follow(memory, rank, payload, ranks):
    for step in range(STEPS):
        drawn = memory.draw(4)
        assert (memory.owner[drawn] == rank).all()
        assert (payload[drawn] == memory.ids[drawn]).all(), step
        ids, labels = batch_of(rank, step)
        change = memory.update(ids, labels)
        payload[change.slots] = np.array(ids, "i8")[change.items]
        if step == 500:
            change = memory.forget(int(memory.ids[7]))
            payload[change.moved_to] = payload[change.moved_from]
        if step == 600:
            change = memory.resize(50)
            payload[change.moved_to] = payload[change.moved_from]
    mine = np.flatnonzero(memory.owner == rank)
    assert (payload[mine] == memory.ids[mine]).all()
    assert set(memory.owner.tolist()) <= set(range(ranks))


def refusals(memory, rank):
    """A batch that one rank cannot offer is refused in all."""
    before = memory._save_bytes()
    broken = (1 / (1 - rank) for _ in range(1))
    for ids, labels in (([1], [[None]] if rank == 1 else [[1]]), ([5], [[1]]), ([2 + rank], ["text"] if rank == 0 else [[3]]),
                        ([3 + rank], broken if rank == 1 else [[1]])):
        try:
            memory.update(ids, labels)
        except (ValueError, KeyError):
            pass
        except ZeroDivisionError:
            assert rank == 1
        else:
            raise AssertionError("not refused")
    assert memory._save_bytes() == before


def child(rank, folder):
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=4)
    pair = dist.new_group([0, 1])
    for group, ranks in ((None, 4), (pair, 2)):
        if rank < ranks:
            memory = ocdm.distributed.Memory(group, **OPTIONS)
            follow(memory, rank, np.zeros(90, "i8"), ranks)
            again = ocdm.distributed.Memory(group, capacity=50)
            again.load_state_dict(memory.state_dict())
            assert again.owner.tolist() == memory.owner.tolist() and again == memory
            named = ocdm.distributed.Memory(group, capacity=5)
            named.update(None, [["a", "b"]] * (rank + 1))
            assert named.arrived == sum(range(1, ranks + 1)) and named.names == ["a", "b"]
            refusals(memory, rank)
            with open(f"{folder}/{ranks}-{rank}", "wb") as file:
                file.write(memory._save_bytes())
    dist.barrier()


class Distributed(unittest.TestCase):
    def test_processes_hold_the_memory_of_one(self):
        import ocdm.distributed  # before the children are forked
        torch.set_num_threads(1)
        with tempfile.TemporaryDirectory() as folder:
            children = []
            for rank in range(4):
                pid = os.fork()
                if pid == 0:
                    try:
                        child(rank, folder)
                    except BaseException:
                        traceback.print_exc()
                        os._exit(1)
                    os._exit(0)
                children.append(pid)
            self.assertEqual([os.waitpid(pid, 0)[1] for pid in children], [0] * 4)
            for ranks in (2, 4):
                expected = self.alone(ranks)
                for rank in range(ranks):
                    with open(f"{folder}/{ranks}-{rank}", "rb") as file:
                        self.assertEqual(file.read(), expected, f"rank {rank} of {ranks}")

    def alone(self, ranks):
        memory = ocdm.Memory(**OPTIONS)
        for step in range(STEPS):
            memory.draw(4)
            batches = [batch_of(rank, step) for rank in range(ranks)]
            memory.update(sum((ids for ids, _ in batches), []), sum((labels for _, labels in batches), []))
            if step == 500:
                memory.forget(int(memory.ids[7]))
            if step == 600:
                memory.resize(50)
        return memory._save_bytes()


if __name__ == "__main__":
    tap.main()
