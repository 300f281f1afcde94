"""What needs PyTorch: tensors as labels and payloads, DataLoader, and ocdm.mammoth.Buffer with the calls that Mammoth makes."""
import unittest

import numpy as np
import scipy.sparse
import torch

import ocdm
import ocdm.mammoth
import tap


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
            other = ocdm.Replay(1)
            other.load_state_dict(replay.state_dict())
            self.assertTrue(torch.equal(other[:][0], whole))

    def test_stores_of_tensors(self):
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

    def test_gradients_do_not_go_into_the_memory(self):
        replay = ocdm.Replay(5)
        replay.add(torch.ones(3, 2, requires_grad=True) * 2, torch.arange(3))
        self.assertFalse(replay.sample(2).requires_grad)
        with self.assertRaises(ValueError):
            replay.add(np.ones((3, 2), np.float32), np.arange(3))

    def test_a_data_loader_draws_in_the_main_process(self):
        replay = ocdm.Replay(50)
        replay.add((torch.arange(40.0), torch.arange(40)), torch.arange(40) % 5)
        twin = ocdm.Memory(1)
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
            self.assertEqual(set(buffer.serialize()), {"examples", "labels", "logits", "task_labels"})
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

    def test_without_labels_and_with_attention_maps(self):
        buffer = ocdm.mammoth.Buffer(5, sample_selection_strategy="reservoir")
        for _ in range(4):
            buffer.add_data(torch.rand(3, 2), attention_maps=[torch.ones(3, 2, 2), torch.zeros(3, 1)])
        self.assertEqual(len(buffer.get_data(3)), 1)
        self.assertTrue(all(len(maps) == 2 and maps[0].dtype == torch.uint8 for maps in buffer.attention_maps))
        self.assertEqual(buffer.memory.policy, "rs")


if __name__ == "__main__":
    tap.main()
