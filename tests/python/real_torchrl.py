"""ocdm.torchrl in the real TorchRL, from its sources: checkouts of pytorch/rl and pytorch/tensordict of version 0.3.0, with the PyTorch
that is installed.

    python3 tests/python/real_torchrl.py RL TENSORDICT

Their modules in C++ are not built: four functions of tensordict about nested keys are written below; TorchRL does without its own, which
is for prioritized samplers. Packages above the replay buffers, which import environments, are not run.
"""
import sys
import tempfile
import types
import unittest
import warnings

RL, TENSORDICT = sys.argv[1:3]


def parts(key):
    return (key,) if isinstance(key, str) else tuple(name for part in key for name in parts(part)) if isinstance(key, tuple) else ()


def plain(key):
    names = parts(key)
    return names[0] if len(names) == 1 else names


def make_package(name, folder):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [folder]


warnings.simplefilter("ignore")
sys.path[:0] = [RL, TENSORDICT]
keys = sys.modules["tensordict._tensordict"] = types.ModuleType("tensordict._tensordict")
keys._unravel_key_to_tuple, keys.unravel_key = parts, plain
keys.unravel_key_list, keys.unravel_keys = lambda names: [plain(name) for name in names], lambda *names: tuple(map(plain, names))
make_package("torchrl", f"{RL}/torchrl")
make_package("torchrl.data", f"{RL}/torchrl/data")

import torch
from tensordict import TensorDict
from torchrl.data.replay_buffers.replay_buffers import TensorDictReplayBuffer
from torchrl.data.replay_buffers.samplers import SamplerWithoutReplacement
from torchrl.data.replay_buffers.storages import LazyMemmapStorage, LazyTensorStorage, ListStorage

import ocdm
from ocdm.torchrl import OCDMWriter


def batches(count=60):
    chance = torch.Generator().manual_seed(0)
    for step in range(count):
        ids = torch.arange(10 * step, 10 * step + 10)
        labels = torch.rand(10, 6, generator=chance) < torch.tensor([0.9, 0.5, 0.3, 0.2, 0.1, 0.05])
        labels[:, 0] |= ~labels.any(1)
        yield TensorDict({"x": ids[:, None].repeat(1, 4).float(), "id": ids, "labels": labels}, batch_size=[10])


def buffer_of(storage, **options):
    return TensorDictReplayBuffer(storage=storage, writer=OCDMWriter("labels", seed=4), batch_size=7, **options)


def held(buffer, key):
    """By index: the first number of a key."""
    elements = [buffer[i] for i in range(len(buffer))]
    return [int(element.get("_data", default=element)[key].reshape(-1)[0]) for element in elements]


class RealTorchRL(unittest.TestCase):
    def test_storages_hold_what_the_memory_keeps(self):
        plain = ocdm.Memory(43, seed=4)
        kinds = [LazyTensorStorage(43), LazyMemmapStorage(43), ListStorage(43)]
        buffers = [buffer_of(kind) for kind in kinds] + [buffer_of(LazyTensorStorage(43), sampler=SamplerWithoutReplacement(), prefetch=2)]
        for batch in batches():
            change = plain.update(None, batch["labels"])
            for buffer in buffers:
                index = buffer.extend(batch.clone())
                self.assertEqual(index[torch.from_numpy(change.items)].tolist(), change.slots.tolist())
                self.assertEqual(int((index < 0).sum()), 10 - len(change.items))
        for buffer in buffers:
            self.assertEqual(len(buffer), 43)
            self.assertEqual(held(buffer, "id"), plain.ids.tolist())
            self.assertEqual(held(buffer, "x"), plain.ids.tolist())
            for _ in range(3):
                sample = buffer.sample()
                self.assertEqual(sample["id"].tolist(), [plain.ids[i] for i in sample["index"].reshape(7, -1)[:, 0].tolist()])

    def test_add_offers_one(self):
        buffer, plain = buffer_of(LazyTensorStorage(5)), ocdm.Memory(5, seed=4)
        for batch in batches(4):
            for element in batch:
                change = plain.update(None, element["labels"][None])
                self.assertEqual(buffer._writer.add(element.clone()), int(change.slots[0]) if len(change.slots) else None)
        self.assertEqual(held(buffer, "id"), plain.ids.tolist())

    def test_states_and_folders_go_on(self):
        first, *rest = [buffer_of(LazyTensorStorage(40)) for _ in range(3)]
        made = list(batches())
        for batch in made[:30]:
            first.extend(batch.clone())
        rest[0].extend(made[0].clone())
        rest[0].load_state_dict(first.state_dict())
        with tempfile.TemporaryDirectory() as folder:
            first.dumps(folder)
            rest[1].extend(made[0].clone())
            rest[1].loads(folder)
        for batch in made[30:]:
            for buffer in (first, *rest):
                buffer.extend(batch.clone())
        for buffer in rest:
            self.assertEqual(buffer._writer.memory, first._writer.memory)
            self.assertEqual(buffer[:]["id"].tolist(), first[:]["id"].tolist())
        first.empty()
        self.assertEqual((len(first), len(first._writer.memory)), (0, 0))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
