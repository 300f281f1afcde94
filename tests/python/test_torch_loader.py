"""Replay.loader: the same batches with any number of workers, whole samples whatever is added meanwhile; devices and pinned memory."""
import pickle
import tempfile
import unittest
import warnings

import numpy as np
import torch

import ocdm
import tap


def batch_of(ids):
    """Each part of a sample tells its id."""
    return {"x": torch.from_numpy(np.repeat(ids[:, None], 5, 1).astype("f4")), "image": np.repeat(ids % 200, 12 * 8).reshape(-1, 4, 8, 3).astype("u1"),
            "id": torch.from_numpy(ids), "half": torch.from_numpy(ids.astype("f4")).to(torch.bfloat16)}


def filled(steps=30, parts=("x", "image", "id", "half"), **options):
    replay = ocdm.Replay(40, seed=2, **options)
    for step in range(steps):
        add(replay, step, parts)
    return replay


def add(replay, step, parts=("x", "image", "id", "half")):
    ids = np.arange(10 * step, 10 * step + 10)
    batch = batch_of(ids)
    replay.add({part: batch[part] for part in parts}, ids % 7, ids)


def double(sample):
    return sample["x"] * 2, sample["id"]


def only_ids(samples):
    return [int(sample["id"]) for sample in samples]


class Loader(unittest.TestCase):
    def whole(self, batch):
        ids = batch["id"].numpy() if torch.is_tensor(batch["id"]) else batch["id"]
        self.assertEqual(np.asarray(batch["x"]).tolist(), np.repeat(ids[:, None], 5, 1).tolist())
        if "half" in batch:
            self.assertEqual(batch["half"].tolist(), torch.from_numpy(ids.astype("f4")).to(torch.bfloat16).tolist())
        return ids.tolist()

    def drawn(self, workers, parts, **options):
        """Ids of 12 batches, while samples are added."""
        replay, found = filled(parts=parts, **options), []
        for step, batch in enumerate(replay.loader(6, 12, num_workers=workers)):
            self.assertEqual([type(value) for value in batch.values()], [type(value) for value in replay[:].values()])
            found.append(self.whole(batch))
            add(replay, 30 + step, parts)
        replay.close()
        return found

    def test_the_first_batches_are_the_same_with_workers(self):
        for options in ({}, {"store": "f16"}):
            alone, together = (self.drawn(workers, ("x", "image", "id", "half"), **options) for workers in (0, 2))
            self.assertEqual(alone[0], together[0])
            self.assertEqual(len(together), 12)

    def test_without_additions_all_batches_are_the_same(self):
        found = []
        for workers in (0, 2):
            replay = filled()
            found.append([self.whole(batch) for batch in replay.loader(6, 9, num_workers=workers, by="balanced", exclude=[1, 2])])
        self.assertEqual(found[0], found[1])

    def test_rows_in_files_are_not_overwritten_before_they_are_read(self):
        with tempfile.TemporaryDirectory() as folder:
            replay = filled(parts=("x", "id"), store_dir=folder)
            loader, step = iter(replay.loader(8, 60, num_workers=2)), 30
            for batch in loader:
                for _ in range(3):
                    add(replay, step, ("x", "id"))
                    step += 1
                self.whole(batch)
            self.assertFalse(replay._disk.outstanding)
            from ocdm._loader import _Batches
            sent = pickle.dumps(_Batches(replay.loader(8), True))  # for workers that are not forked: paths, no rows
            self.assertLess(len(sent), 2000)
            self.whole(pickle.loads(sent)[replay._places(np.arange(8))])
            loader = iter(replay.loader(8, num_workers=1))
            next(loader)
            self.assertTrue(replay._disk.outstanding)
            loader.close()
            self.assertFalse(replay._disk.outstanding)
            replay.close()

    def test_workers_decode_images_and_transform(self):
        replay = filled(parts=("x", "id", "image"), store="jpeg:90:16")
        for workers in (0, 1):
            x, ids = next(iter(replay.loader(5, 1, num_workers=workers, transform=double)))
            self.assertEqual(x[:, 0].tolist(), [2.0 * i for i in ids.tolist()])
            self.assertEqual(len(next(iter(replay.loader(5, 1, num_workers=workers, collate_fn=only_ids)))), 5)
            image = next(iter(replay.loader(5, 1, num_workers=workers)))["image"]
            self.assertEqual((image.shape, image.dtype), ((5, 4, 8, 3), np.uint8))

    def test_weights_may_change_from_draw_to_draw(self):
        replay, only = filled(), iter((3, 9, 17))
        batches = replay.loader(1, 3, weights=lambda: np.arange(40) == next_of[0] if next_of else None)
        next_of = []
        found = []
        for slot in only:
            next_of[:] = [slot]
            found.append(next(iter(batches))["id"].item())
        self.assertEqual(found, replay.memory.ids[[3, 9, 17]].tolist())

    def test_what_cannot_be_done_is_an_error(self):
        with self.assertRaises(ValueError):
            next(iter(ocdm.Replay(3).loader(2)))
        replay = filled()
        with self.assertRaises(TypeError):
            replay.loader(2, bye="loss")
        with self.assertRaises(TypeError):
            len(replay.loader(2))
        batches = iter(replay.loader(2))
        next(batches)
        replay.clear()
        with self.assertRaises(RuntimeError):
            next(batches)

    def test_tensors_of_several_devices_stay_where_they_are(self):
        """The device `meta` has no numbers, so that only the places can be looked at."""
        replay = ocdm.Replay(4)
        replay.add((torch.ones(3, 2), torch.ones(3, 2, device="meta"), np.ones(3)), np.arange(3))
        cpu, meta, array = replay.sample(2)
        self.assertEqual((cpu.device.type, meta.device.type, type(array)), ("cpu", "meta", np.ndarray))
        self.assertEqual([part.device.type for part in replay.to("meta").sample(2)[:2]], ["meta", "meta"])

    def test_pinned_samples_are_asked_of_pytorch(self):
        """There is no GPU here: what must be called is counted."""
        replay, calls, real = filled(), [], torch.Tensor.pin_memory
        torch.Tensor.pin_memory = lambda tensor: calls.append(tensor.dtype) or tensor
        try:
            replay.pin().sample(3)
        finally:
            torch.Tensor.pin_memory = real
        self.assertEqual(calls, [torch.float32, torch.int64, torch.bfloat16])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    tap.main()
