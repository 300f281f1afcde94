"""What needs PyTorch: tensors as labels and payloads, DataLoader, and ocdm.mammoth.Buffer with the calls that Mammoth makes."""
import copy
import io
import itertools
import pickle
import random
import sys
import types
import unittest

import numpy as np
import scipy.sparse
import torch

import ocdm
import ocdm.mammoth
import tap


def odd_tensors():
    """Tensors that NumPy has no array for: sparse, with a conjugate and with a negative bit."""
    sparse = torch.eye(3).to_sparse()
    return [sparse, sparse.to_sparse_csr(), torch.eye(3, dtype=torch.complex64).conj(), torch.eye(3, dtype=torch.complex64).conj().imag,
            sparse.to(torch.bfloat16)]


def through_a_file(state):
    """What torch.load makes of it when it reads nothing but tensors and plain types."""
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


class Labels(unittest.TestCase):
    def memory(self, labels):
        memory = ocdm.Memory(7)
        memory.update(torch.arange(len(labels)) if not scipy.sparse.issparse(labels) else range(labels.shape[0]), labels)
        return memory

    def test_tensors_and_sparse_matrices_are_labels(self):
        hot = (np.random.default_rng(0).random((20, 9)) > 0.7).astype(np.float32)
        expected = ocdm.Memory(7)
        expected.update(range(20), hot)
        dtypes = (torch.bool, torch.uint8, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64)
        forms = [torch.tensor(hot).to(dtype) for dtype in dtypes]
        forms += [torch.tensor(hot, requires_grad=True), torch.tensor(hot.T.copy()).T]
        forms += [scipy.sparse.csr_matrix(hot), scipy.sparse.coo_matrix(hot), scipy.sparse.csc_matrix(hot), scipy.sparse.lil_matrix(hot)]
        for form in forms:
            self.assertEqual(self.memory(form), expected)
        single = self.memory(torch.tensor([3, 1, 2]))
        self.assertEqual(single.labels(), [[3], [1], [2]])

    def test_wrong_tensors_are_value_errors(self):
        for labels in (torch.zeros(3), torch.zeros(3, 2, 2), torch.tensor([[0, float("nan")]] * 3), torch.tensor([-1, 0, 1]),
                       scipy.sparse.csr_matrix(np.array([[np.nan]] * 3)), torch.zeros(3, 2, dtype=torch.complex64)):
            with self.assertRaises(ValueError):
                ocdm.Memory(7).update(range(3), labels)

    def test_sparse_conjugate_and_negative_tensors_are_value_errors(self):
        for tensor in odd_tensors():
            with self.assertRaisesRegex(ValueError, "to_dense"):
                ocdm.Memory(7).update(range(3), tensor)
            replay = ocdm.Replay(7)
            with self.assertRaisesRegex(ValueError, "to_dense"):
                replay.add(tensor, [[0]] * 3)
            self.assertEqual(replay.memory.arrived, 0)

    def test_a_state_of_a_memory_is_tensors_and_plain_types(self):
        for labels in ([[0], [3, 4], []], [["a"], ["b", "a"], []]):
            memory, other = ocdm.Memory(7, rho=0.5), ocdm.Memory(7)
            memory.update([-5, 6, 2**62], labels)
            memory.draw(2)
            other.load_state_dict(through_a_file(memory.state_dict()))
            self.assertEqual(other, memory)
            memory.save("memory.safetensors")
            self.assertEqual(ocdm.Memory.load("memory.safetensors"), memory)


class Payloads(unittest.TestCase):
    def test_tensors_come_back_as_tensors(self):
        for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.uint8, torch.bool):
            replay, truth = ocdm.Replay(30), []
            for step in range(20):
                x = torch.randint(0, 2, (10, 3, 2)).to(dtype)
                truth.append(x)
                replay.add((x, x[:, 0, 0]), torch.arange(10) % 4)
            whole, part = replay[:]
            self.assertEqual((whole.dtype, tuple(whole.shape)), (dtype, (30, 3, 2)))
            expected = torch.cat(truth)[torch.from_numpy(replay.memory.arrivals)]
            self.assertTrue(torch.equal(whole, expected) and torch.equal(part, expected[:, 0, 0]))
            other = ocdm.Replay(30)
            other.load_state_dict(replay.state_dict())
            self.assertTrue(torch.equal(other[:][0], whole))

    def test_stores_of_tensors(self):
        torch.manual_seed(0)
        for dtype in (torch.float32, torch.bfloat16):
            for store, tolerance in (("f16", 0.01), ("f32", 0.01), ("u8", 0.02)):
                replay, truth = ocdm.Replay(200, store=store), []
                for step in range(40):
                    truth.append(torch.rand(10, 8).to(dtype))
                    replay.add(truth[-1], torch.arange(10) % 4)
                expected = torch.cat(truth)[torch.from_numpy(replay.memory.arrivals)]
                self.assertEqual(replay[:].dtype, dtype)
                self.assertLess((replay[:].float() - expected.float()).abs().max(), tolerance)
                self.assertEqual(replay.nbytes, 200 * 8 * {"f16": 2, "f32": 4, "u8": 1}[store])

    def test_a_state_is_tensors_and_plain_types(self):
        x = np.random.default_rng(0).integers(0, 200, (30, 4))
        for dtype in ("u1", "i2", "i8", "f2", "f4", "f8", "c8", "?", "u2", "u8", "S3", "U3", "M8[s]", ">f4", "i4,f8"):
            self.goes_through_a_file(x[:, 0].astype("i4").astype(dtype) if "," in dtype else x.astype(dtype))
        for store in ("f16", "f32", "u8"):
            for payload in (x.astype("f4"), x[:, 0].astype("f8"), torch.rand(30, 3), torch.rand(30), torch.rand(30, 2).bfloat16()):
                for rounds in (1, 12):  # u8 is still learning its ranges, or not
                    self.goes_through_a_file(payload, rounds, store=store)
        for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64):
            self.goes_through_a_file(torch.from_numpy(x).to(dtype))
        self.goes_through_a_file([f"{i}.jpg" for i in range(30)])

    def goes_through_a_file(self, payload, rounds=1, **options):
        replay, other, empty = ocdm.Replay(25, **options), ocdm.Replay(25), ocdm.Replay(25, **options)
        for _ in range(rounds):
            replay.add({"x": payload, "y": (payload,)}, [[i % 3] for i in range(30)])
        other.load_state_dict(through_a_file(replay.state_dict()))
        self.assertEqual(other.memory, replay.memory)
        for each in (replay, other):
            each.add({"x": payload, "y": (payload,)}, [[i % 4] for i in range(30)])
        expected, found = replay.sample(9), other.sample(9)
        for a, b in ((expected["x"], found["x"]), (expected["y"][0], found["y"][0])):
            self.assertIs(type(a), type(b))
            if isinstance(a, list):
                self.assertEqual(a, b)
            else:
                self.assertEqual((a.dtype, a.tolist()), (b.dtype, b.tolist()))
        empty.add({"x": payload, "y": (payload,)}, [[0]] * 30, range(30))
        for id in empty.memory.ids.tolist():
            empty.forget(id)
        other.load_state_dict(through_a_file(empty.state_dict()))
        self.assertEqual(len(other.sample(3)["x"]), 0)

    def test_payloads_move_to_a_device(self):
        replay = ocdm.Replay(20, store="f16")
        batch = {"x": torch.rand(30, 2), "half": torch.rand(30).bfloat16(), "a": np.arange(30), "o": [str(i) for i in range(30)]}
        replay.add(batch, torch.arange(30) % 3)
        before = replay[:]
        self.assertIs(replay.to("cpu"), replay)
        self.assertTrue(torch.equal(replay[:]["x"], before["x"]) and torch.equal(replay[:]["half"], before["half"]))
        replay.to("meta")  # a device without memory
        found = replay.sample(5)
        self.assertEqual((found["x"].device.type, found["x"].dtype, tuple(found["x"].shape)), ("meta", torch.float32, (5, 2)))
        self.assertEqual((found["half"].device.type, found["half"].dtype), ("meta", torch.bfloat16))
        self.assertEqual(replay[:]["a"].tolist(), before["a"].tolist())
        self.assertEqual(replay[:]["o"], before["o"])

    def test_a_run_that_stops_anywhere_and_is_resumed_ends_with_the_same_weights(self):
        """The recipe of the README."""
        chance = torch.Generator().manual_seed(3)
        loader = [(torch.rand(10, 4, generator=chance), torch.nn.functional.one_hot(torch.randint(0, 3, (10,), generator=chance), 3).float())
                  for _ in range(8)]

        def train(saved, last):
            torch.manual_seed(1)
            model, replay, first = torch.nn.Linear(4, 3), ocdm.Replay(30, seed=2), 0
            optimiser = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.75)
            if saved is not None:
                model.load_state_dict(saved["model"])
                optimiser.load_state_dict(saved["optimiser"])
                replay.load_state_dict(saved["replay"])
                first = saved["step"] + 1
            for step, (x, y) in enumerate(replay.stream(itertools.islice(loader, first, None), replay=10), first):
                optimiser.zero_grad()
                torch.nn.functional.binary_cross_entropy_with_logits(model(x), y).backward()
                optimiser.step()
                if step == last:
                    break
            state = {"model": model.state_dict(), "optimiser": optimiser.state_dict(), "replay": replay.state_dict(), "step": step}
            file = io.BytesIO()
            torch.save(state, file)
            file.seek(0)
            return torch.load(file)

        whole = train(None, 7)
        for stop in range(7):
            parts = train(train(None, stop), 7)
            self.assertTrue(all(torch.equal(parts["model"][name], whole["model"][name]) for name in ("weight", "bias")), stop)
            self.assertTrue(torch.equal(parts["replay"]["leaves"][0]["rows"], whole["replay"]["leaves"][0]["rows"]))

    def test_gradients_do_not_go_into_the_memory(self):
        replay = ocdm.Replay(5)
        replay.add(torch.ones(3, 2, requires_grad=True) * 2, torch.arange(3))
        self.assertFalse(replay.sample(2).requires_grad)
        with self.assertRaises(ValueError):
            replay.add(np.ones((3, 2), np.float32), np.arange(3))

    def test_a_data_loader_draws_in_the_main_process(self):
        replay = ocdm.Replay(50)
        replay.add((torch.arange(40.0), torch.arange(40)), torch.arange(40) % 5)
        twin = ocdm.Memory(50)
        twin.load_state_dict(replay.memory.state_dict())
        for workers in (0, 2):
            loader = torch.utils.data.DataLoader(replay, sampler=replay.sampler(8, batches=3), batch_size=None, num_workers=workers)
            for x, y in loader:
                self.assertEqual(y.tolist(), replay[twin.draw(8)][1].tolist())
        pairs = torch.utils.data.DataLoader(replay, batch_size=10)
        self.assertEqual([tuple(x.shape) for x, y in pairs], [(10,)] * 4)

    def test_stream_over_a_data_loader(self):
        data = torch.utils.data.TensorDataset(torch.rand(60, 4), torch.randint(0, 2, (60, 5)).float())
        replay = ocdm.Replay(20)
        sizes = [len(x) for x, y in replay.stream(torch.utils.data.DataLoader(data, batch_size=10), replay=5)]
        self.assertEqual(sizes, [10] + [15] * 5)


class Mammoth(unittest.TestCase):
    def filled(self, hot=False, **options):
        buffer = ocdm.mammoth.Buffer(40, "cpu", **options)
        self.assertTrue(buffer.is_empty())
        torch.manual_seed(0)
        for step in range(12):
            labels = torch.randint(0, 6, (10,)) + 2 * (step // 4)
            if hot:
                labels = torch.nn.functional.one_hot(labels, 12).float()
            examples = torch.full((10, 3, 4, 4), float(step)) + torch.arange(10).view(-1, 1, 1, 1) / 100
            buffer.add_data(examples=examples, labels=labels, logits=torch.rand(10, 12, requires_grad=True),
                            task_labels=torch.full((10,), step // 4))
        return buffer

    def test_the_calls_of_er_and_der(self):
        for hot in (False, True):
            buffer = self.filled(hot)
            self.assertEqual((len(buffer), buffer.num_seen_examples, buffer.buffer_size), (40, 120, 40))
            self.assertTrue(buffer.is_full() and not buffer.is_empty())
            examples, labels, logits, tasks = buffer.get_data(16, transform=None, device="cpu")
            self.assertEqual((tuple(examples.shape), tuple(logits.shape)), ((16, 3, 4, 4), (16, 12)))
            self.assertEqual(labels.dtype, torch.float32 if hot else torch.int64)
            self.assertEqual(len(buffer.get_data(1000)[0]), 40)
            self.assertEqual([len(part) for part in buffer.get_all_data()], [40] * 4)
            self.assertEqual(buffer.examples.shape[0], 40)
            self.assertEqual(len(buffer[3]), 4)
            self.assertEqual(list(buffer.serialize()), ["memory_state", "examples", "labels", "logits", "task_labels"])
            kept = buffer.memory.counts["kept"]
            self.assertGreater(kept.min(), 0)

    def test_slots_belong_to_the_memorys_samples(self):
        buffer = self.filled()
        step, item = np.divmod(buffer.memory.arrivals, 10)
        self.assertTrue(np.allclose(buffer.examples[:, 0, 0, 0], step + item / 100))
        self.assertEqual(buffer.labels.tolist(), [labels[0] for labels in buffer.memory.labels()])

    def test_indexes_masks_and_transforms(self):
        buffer = self.filled()
        slots, examples, labels, *_ = buffer.get_data(9, return_index=True)
        self.assertTrue(torch.equal(examples, buffer.examples[slots]) and torch.equal(labels, buffer.labels[slots]))
        self.assertNotIn(1, buffer.get_data(40, mask_task_out=1)[3].tolist())
        others = int((buffer.task_labels != 1).sum())
        self.assertEqual(len(buffer.get_data(40, mask_task_out=1)[0]), others)
        forced = buffer.get_data(3, force_indexes=[5, 0, 7])
        self.assertTrue(torch.equal(forced[0], buffer.examples[[5, 0, 7]]))
        plain, doubled, *_ = buffer.get_data(4, transform=lambda x: x * 2, return_not_aug=True, force_indexes=[1, 2, 3, 4])
        self.assertTrue(torch.equal(doubled, plain * 2))
        self.assertTrue(torch.equal(buffer.get_all_data(transform=lambda x: x + 1)[0], buffer.examples + 1))
        without = ocdm.mammoth.Buffer(5)
        without.add_data(torch.rand(5, 2), torch.arange(5))
        self.assertNotIn(0, (without.get_data(5, mask_task_out=0, cpt=2)[1] // 2).tolist())
        with self.assertRaises(ValueError):
            without.get_data(5, mask_task_out=0)

    def test_the_size_may_be_set_and_the_buffer_emptied(self):
        buffer = self.filled()
        for size in (17, 60):
            buffer.buffer_size = size
            self.assertEqual((buffer.buffer_size, len(buffer), buffer.examples.shape[0]), (size, 17, size))
            step, item = np.divmod(buffer.memory.arrivals, 10)
            self.assertTrue(np.allclose(buffer.examples[:17, 0, 0, 0], step + item / 100))
        buffer.add_data(torch.rand(10, 3, 4, 4), torch.arange(10), torch.rand(10, 12), torch.zeros(10))
        self.assertEqual(len(buffer), 27)
        buffer.empty()
        self.assertTrue(buffer.is_empty() and not hasattr(buffer, "examples"))
        buffer.num_seen_examples = 0

    def test_wrong_data_change_nothing(self):
        buffer = self.filled()
        before, examples = buffer.memory._save_bytes(), buffer.examples.clone()
        for arguments in ((torch.rand(3, 3, 4, 4), torch.arange(2)), (torch.rand(3, 3, 4, 5), torch.arange(3)),
                          (torch.rand(3, 3, 4, 4), torch.tensor([-1, 0, 1])), (torch.rand(3, 3, 4, 4), torch.rand(3))):
            with self.assertRaises(ValueError):
                buffer.add_data(*arguments)
        self.assertEqual(buffer.memory._save_bytes(), before)
        self.assertTrue(torch.equal(buffer.examples, examples))
        with self.assertRaises(ValueError):
            ocdm.mammoth.Buffer(10, sample_selection_strategy="lars")

    def test_balanced_data_have_equal_shares_of_random_classes(self):
        buffer, seen = self.filled(), set()
        kept = {label: int(kept) for label, kept, *_ in buffer.memory.counts[["id", "kept"]].tolist()}
        self.assertGreater(min(kept.values()), 2)
        for size, classes in ((8, 4), (9, 4), (16, -1), (3, 8), (3, 1)):
            twin = copy.deepcopy(buffer)
            parts = buffer.get_balanced_data(size, transform=lambda x: x + 1, n_classes=classes)
            counts = parts[1].unique(return_counts=True)[1].tolist()
            expected = min(size, len(kept) if classes == -1 else classes)
            self.assertEqual((len(parts), len(parts[0]), len(counts)), (4, size, expected))
            self.assertLessEqual(max(counts) - min(counts), 1)
            self.assertEqual(len(parts[0][:, 0, 0, 0].unique()), size)  # without repeats
            torch.manual_seed(random.randrange(10**6))
            self.assertTrue(torch.equal(twin.get_balanced_data(size, n_classes=classes)[1], parts[1]))  # by the seed of the memory alone
        for _ in range(40):
            seen.update(buffer.get_balanced_data(2, n_classes=2)[1].tolist())
        self.assertEqual(seen, set(kept))
        self.assertEqual(len(buffer.get_balanced_data(1000)[0]), 40)
        hot = self.filled(hot=True)
        self.assertEqual(len(hot.get_balanced_data(8, n_classes=4)[1].unique(dim=0)), 4)
        without = ocdm.mammoth.Buffer(5)
        without.add_data(torch.rand(5, 2))
        self.assertEqual(len(without.get_balanced_data(3)[0]), 3)

    def test_a_data_loader_over_the_buffer(self):
        buffer, args = self.filled(), types.SimpleNamespace(seed=3)
        plain = list(buffer.get_dataloader(args, 16))
        self.assertEqual([len(batch[0]) for batch in plain], [16, 16, 8])
        self.assertTrue(torch.equal(torch.cat([batch[1] for batch in plain]), buffer.labels))
        shuffled = [torch.cat([batch[0] for batch in buffer.get_dataloader(args, 7, shuffle=True, transform=lambda x: 2 * x)]) for _ in range(2)]
        self.assertTrue(torch.equal(*shuffled) and not torch.equal(shuffled[0], 2 * buffer.examples))
        self.assertEqual(sorted(shuffled[0][:, 0, 0, 0].tolist()), sorted((2 * buffer.examples)[:, 0, 0, 0].tolist()))
        sampler = torch.utils.data.RandomSampler(buffer)
        self.assertEqual(len(list(buffer.get_dataloader(args, 16, drop_last=True, sampler=sampler))), 2)
        self.assertEqual(len(list(buffer)), 40)
        few = ocdm.mammoth.Buffer(5)
        few.add_data(torch.rand(2, 3), torch.arange(2))
        for index in (2, -1):
            self.assertRaises(IndexError, few.__getitem__, index)

    def test_without_labels_and_with_attention_maps(self):
        buffer = ocdm.mammoth.Buffer(5, sample_selection_strategy="reservoir")
        for _ in range(4):
            buffer.add_data(torch.rand(3, 2), attention_maps=[torch.ones(3, 2, 2), torch.zeros(3, 1)])
        self.assertEqual(len(buffer.get_data(3)), 1)
        self.assertTrue(all(len(maps) == 2 and maps[0].dtype == torch.uint8 for maps in buffer.attention_maps))
        self.assertEqual(buffer.memory.policy, "rs")


class TheirBuffer:
    """Stands for the class that Mammoth's `load_buffer` compares with."""


class Model:
    """Makes the calls of a model of Mammoth and of its checkpoints on the buffer, in their order."""

    def __init__(self, size=30, **options):
        torch.manual_seed(1)
        self.net, self.buffer = torch.nn.Linear(4, 6), ocdm.mammoth.Buffer(size, "cpu", **options)

    def steps(self, first, last, attention=False):
        for step in range(first, last):
            chance = torch.Generator().manual_seed(step)
            x, y = torch.rand(10, 4, generator=chance), torch.randint(0, 3, (10,), generator=chance) + 3 * (step // 8)
            samples, targets = x, y
            if not self.buffer.is_empty():
                old = self.buffer.get_data(8) if step % 2 else self.buffer.get_balanced_data(8)
                samples, targets = torch.cat((x, old[0])), torch.cat((y, old[1]))
            self.net.zero_grad()
            torch.nn.functional.cross_entropy(self.net(samples), targets).backward()
            with torch.no_grad():
                for weight in self.net.parameters():
                    weight -= 0.25 * weight.grad
            logits = self.net(x) if step >= 5 else None
            self.buffer.add_data(examples=x, labels=y, logits=logits, attention_maps=[x > 0.5] if attention else None)
        return self

    def saved(self, mode):
        if mode == "safe":
            return through_a_file({"net": self.net.state_dict(), "buffer": self.buffer.serialize()})
        file = io.BytesIO()
        torch.save({"net": self.net.state_dict(), "buffer": copy.deepcopy(self.buffer).to("cpu")}, file)
        file.seek(0)
        return torch.load(file)

    def load(self, state):
        self.net.load_state_dict(state["net"])
        buffer = state["buffer"]
        if isinstance(buffer, TheirBuffer):
            assert buffer.examples.shape[0] == self.buffer.buffer_size
            self.buffer = buffer
        elif isinstance(buffer, dict):
            assert "examples" in buffer and self.buffer.buffer_size == buffer["examples"].shape[0]
            for name, value in buffer.items():
                setattr(self.buffer, name, value)
            self.buffer.attributes = list(buffer.keys())
            self.buffer.num_seen_examples = buffer["examples"].shape[0]
        else:
            raise ValueError("a buffer of another type")
        return self


class Checkpoints(unittest.TestCase):
    def setUp(self):
        theirs = types.ModuleType("utils.buffer")
        theirs.Buffer = TheirBuffer
        sys.modules["utils.buffer"] = theirs
        self.addCleanup(sys.modules.pop, "utils.buffer", None)

    def same(self, one, other):
        self.assertTrue(torch.equal(one.net.weight, other.net.weight))
        self.same_buffers(one.buffer, other.buffer)

    def same_buffers(self, one, other):
        self.assertEqual(one.memory, other.memory)
        self.assertEqual(one.used_attributes, other.used_attributes)
        self.assertTrue(all(torch.equal(getattr(one, name), getattr(other, name)) for name in one.used_attributes))
        self.assertEqual([maps and [part.tolist() for part in maps] for maps in one.attention_maps],
                         [maps and [part.tolist() for part in maps] for maps in other.attention_maps])

    def test_a_resumed_run_is_the_unbroken_one(self):
        for policy in ("ocdm", "reservoir"):
            for attention in (False, True):
                options = {"sample_selection_strategy": policy, "seed": 3}
                whole = Model(**options).steps(0, 16, attention)
                for mode in ("safe", "old_pickle"):
                    for stop in (1, 2, 7, 12):  # before the buffer is full, before and after there are logits
                        for used in (0, 6):  # into a new buffer, or one that is in use
                            with self.subTest(policy=policy, attention=attention, mode=mode, stop=stop, used=used):
                                saved = Model(**options).steps(0, stop, attention).saved(mode)
                                resumed = Model(**options).steps(3, 3 + used, attention).load(saved)
                                self.assertEqual(len(resumed.buffer), min(10 * stop, 30))
                                self.same(resumed.steps(stop, 16, attention), whole)

    def test_a_load_that_fails_changes_nothing(self):
        model = Model().steps(0, 7)
        before = copy.deepcopy(model.buffer)
        whole, smaller = model.saved("safe"), Model(31).steps(0, 4).saved("safe")
        foreign = {name: tensor for name, tensor in whole["buffer"].items() if name != "memory_state"}
        cut = {**whole["buffer"], "labels": whole["buffer"]["labels"][:7]}
        broken = {**whole["buffer"], "memory_state": whole["buffer"]["memory_state"][:-9]}
        other_size = {**smaller["buffer"], "examples": whole["buffer"]["examples"]}
        for buffer in (foreign, cut, broken, other_size, smaller["buffer"]):
            with self.assertRaises((ValueError, AssertionError)):
                model.load({"net": model.net.state_dict(), "buffer": buffer})
            self.same_buffers(model.buffer, before)
        self.same(model.load(whole).steps(7, 12), Model().steps(0, 12))

    def test_the_buffer_passes_for_mammoths_where_that_is_loaded_and_is_itself(self):
        buffer = ocdm.mammoth.Buffer(3)
        self.assertTrue(isinstance(buffer, TheirBuffer) and isinstance(buffer, ocdm.mammoth.Buffer))
        self.assertIs(type(pickle.loads(pickle.dumps(buffer))), ocdm.mammoth.Buffer)
        del sys.modules["utils.buffer"]
        self.assertFalse(isinstance(buffer, TheirBuffer))
        self.assertIs(buffer.__class__, ocdm.mammoth.Buffer)


if __name__ == "__main__":
    tap.main()
