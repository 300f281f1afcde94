"""Payloads that are written anew, partial labels, minimums, files of a replay, JPEG, and what is interrupted."""
import collections
import copy
import os
import pickle
import subprocess
import sys
import threading
import unittest

import numpy as np

import ocdm
import tap

Pair = collections.namedtuple("Pair", "x y")


def filled(store=None, capacity=20, **options):
    replay = ocdm.Replay(capacity, store=store, **options)
    for step in range(6):
        ids = np.arange(10 * step, 10 * step + 10)
        replay.add({"x": np.repeat(ids[:, None], 4, 1).astype("f4"), "id": ids, "name": [f"n{i}" for i in ids]}, ids % 4, ids)
    return replay


class Writing(unittest.TestCase):
    def test_parts_are_written_by_slot(self):
        for store in (None, "f16", "u8"):
            replay = filled(store)
            before = copy.deepcopy(replay[:])
            replay.update([3, -1, 5], x=np.full((3, 4), [[1], [2], [3]], "f4"), name=["a", "b", "c"])
            after = replay[:]
            np.testing.assert_allclose(after["x"][[3, 19, 5]], [[1] * 4, [2] * 4, [3] * 4], atol=0.3)
            self.assertEqual([after["name"][i] for i in (3, 19, 5)], ["a", "b", "c"])
            self.assertEqual(after["id"].tolist(), before["id"].tolist())
            others = [i for i in range(20) if i not in (3, 19, 5)]
            np.testing.assert_allclose(after["x"][others], before["x"][others], atol=0.3)

    def test_whole_samples_are_written_by_index(self):
        replay = filled()
        replay[4] = {"x": np.ones(4, "f4"), "id": 77, "name": "one"}
        replay[5:7] = {"x": np.zeros((2, 4), "f4"), "id": np.array([8, 9]), "name": ["a", "b"]}
        self.assertEqual((replay[4]["id"], replay[4]["name"], replay[4]["x"].tolist()), (77, "one", [1] * 4))
        self.assertEqual(replay[[5, 6]]["id"].tolist(), [8, 9])
        pairs = ocdm.Replay(5)
        pairs.add(Pair(np.zeros((3, 2)), np.arange(3)), [0, 1, 2])
        pairs[1] = Pair(np.ones(2), 5)
        self.assertEqual((type(pairs[1]), pairs[1].y), (Pair, 5))

    def test_what_does_not_fit_is_refused_and_nothing_changes(self):
        replay = filled()
        before = pickle.dumps(replay.state_dict())
        for error, wrong in (
            (ValueError, dict(slots=[1], x=np.zeros((2, 4), "f4"))), (ValueError, dict(slots=[1], x=np.zeros((1, 4)))),
            (ValueError, dict(slots=[1], x=np.zeros((1, 5), "f4"))), (ValueError, dict(slots=[1], unknown=[1])),
            (ValueError, dict(slots=[1], name="a")), (ValueError, dict(slots=[1], x=np.zeros((1, 4), "f4"), name=["a", "b"])),
            (IndexError, dict(slots=[20], id=np.array([1]))), (IndexError, dict(slots=[0.5], id=np.array([1]))),
            (ValueError, dict(slots=[1], priority=[-1])), (ValueError, dict(slots=[1], priority=[np.nan])),
            (ValueError, dict(slots=[1], priority=[1, 2])), (ValueError, dict(slots=[1], id=np.array([1]), priority=[np.inf]))):
            with self.assertRaises(error, msg=wrong):
                replay.update(**wrong)
        for index, value in ((0, {"x": 1}), (0, {"x": np.zeros(4), "id": 1, "name": "a"}), ([0, 1], replay[[0]])):
            with self.assertRaises((ValueError, TypeError)):
                replay[index] = value
        self.assertEqual(pickle.dumps(replay.state_dict()), before)
        with self.assertRaises(ValueError):
            ocdm.Replay(3).update([], priority=[])

    def test_priorities_follow_their_samples(self):
        replay = filled(policy="rs")
        replay.update(np.arange(20), priority=replay.memory.ids)
        replay.forget(int(replay.memory.ids[2]))
        replay.resize(12)
        np.testing.assert_array_equal(replay._loss_weights(), np.maximum(replay.memory.ids, 1e-6))
        other = ocdm.Replay(12)
        other.load_state_dict(replay.state_dict())
        self.assertEqual(other.sample(5, "loss")["id"].tolist(), replay.sample(5, "loss")["id"].tolist())
        replay.resize(40)
        replay.add({key: value[:2] for key, value in replay[:].items()}, [1, 2], [-5, -6], priority=[7, 8])
        self.assertEqual(replay._loss_weights()[-2:].tolist(), [7, 8])


class Labels(unittest.TestCase):
    def test_unknown_labels_do_not_count(self):
        labels = np.array([[1, np.nan, 0], [1, 1, 1], [np.nan, 1, 0]])
        known = np.array([[1, 0, 1], [1, 0, 1], [0, 1, 1]], bool)
        plain, partial = ocdm.Memory(5), ocdm.Memory(5)
        plain.update(None, [[0], [0, 2], [1]])
        partial.update(None, labels, known)
        self.assertEqual(partial.labels(), plain.labels())
        replay = ocdm.Replay(5)
        replay.add((np.arange(3), known), labels, known=known.astype("f4"))
        self.assertEqual(replay.memory.labels(), plain.labels())
        self.assertEqual(replay[1][1].tolist(), [True, False, True])

    def test_known_needs_multi_hot_labels_of_its_shape(self):
        memory, hot = ocdm.Memory(5), np.eye(2)
        for labels, known in (([[0]], [[1]]), (np.arange(2), np.ones(2)), (hot, np.ones((2, 3))), (hot, np.ones(2)), (hot, 5), (hot, "no"),
                              ((np.arange(2), np.arange(1)), np.ones((1, 1))), (hot, np.array([["a", "b"], ["c", "d"]]))):
            with self.assertRaises(ValueError, msg=known):
                memory.update(None, labels, known)
        self.assertEqual(memory.arrived, 0)

    def test_minimums_are_kept(self):
        replay = ocdm.Replay(20, min=4)
        named = ocdm.Memory(20, min={"rare": 6})
        for step in range(50):
            labels = [[0]] * 8 + [[step % 3], [4]]
            replay.add(np.zeros(10), labels)
            named.update(None, [["common"]] * 19 + [["rare", "other"]])
        kept = dict(zip(replay.memory.counts["id"].tolist(), replay.memory.counts["kept"].tolist()))
        self.assertTrue(all(count >= 4 for count in kept.values()), kept)
        self.assertGreaterEqual(named.labels().count(["rare", "other"]), 6)
        again = pickle.loads(pickle.dumps(named))
        self.assertEqual((again.minimum("rare"), again.minimum("new"), replay.memory.min), (6, 0, 4))

    def test_minimums_that_do_not_fit_are_refused_and_nothing_changes(self):
        replay = ocdm.Replay(4, min=2)
        replay.add(list("abcd"), [0, 0, 1, 1])
        before = replay[:]
        with self.assertRaisesRegex(ValueError, "minimums do not fit"):
            replay.add(["e", "f"], [2, 2])
        self.assertEqual((replay[:], replay.memory.arrived), (before, 4))
        for bad in (dict(min=-1), dict(min="2"), dict(min={0: -1}), dict(min={None: 1}), dict(min=2, policy="rs"), dict(min={0: 1}, distance="l2")):
            with self.assertRaises((ValueError, TypeError), msg=bad):
                ocdm.Memory(5, **bad)
        memory = ocdm.Memory(5)
        for bad in ((0, -1), (0, 2**32), (-1, 1), ("cat", 1.5)):
            with self.assertRaises((ValueError, TypeError), msg=bad):
                memory.set_minimum(*bad)
        memory.update(None, [["cat"]])  # a name that was refused is not known
        self.assertEqual(memory.names, ["cat"])


class Files(unittest.TestCase):
    def same(self, one, other):
        a, b = one[:], other[:]
        self.assertEqual(a["x"].tolist(), b["x"].tolist())
        self.assertEqual((a["id"].tolist(), a["x"].dtype), (b["id"].tolist(), b["x"].dtype))
        self.assertEqual(one.sample(6, "loss")["id"].tolist(), other.sample(6, "loss")["id"].tolist())

    def test_a_loaded_replay_goes_on_as_the_saved_one(self):
        for store in (None, "f16", "u8"):
            for steps in (3, 60):  # u8 learns, and has learned
                replay = ocdm.Replay(20, store=store, rho=0.5, seed=8)
                for step in range(steps):
                    ids = np.arange(10 * step, 10 * step + 10)
                    replay.add({"x": np.repeat(ids[:, None], 4, 1).astype("f4"), "id": ids, "t": (ids.astype("M8[s]"), ids % 2 == 0)}, ids % 4, ids)
                replay.update([1, 2], priority=[5, 6])
                replay.save("replay.safetensors")
                other = ocdm.Replay.load("replay.safetensors")
                self.assertEqual(other.memory, replay.memory)
                self.assertEqual(other[:]["t"][0].tolist(), replay[:]["t"][0].tolist())
                self.same(replay, other)
                for each in (replay, other):
                    each.add({"x": np.ones((5, 4), "f4"), "id": np.arange(-5, 0), "t": (np.zeros(5, "M8[s]"), np.zeros(5, bool))},
                             np.arange(5), np.arange(-5, 0))
                self.same(replay, other)

    def test_tensors_of_the_file_can_be_read_by_others(self):
        replay = ocdm.Replay(7)
        replay.add((np.arange(2), [{1}, {2}]), np.arange(2))
        with self.assertRaisesRegex(ValueError, "allow_pickle"):
            replay.save("objects.safetensors")
        self.assertFalse(os.path.exists("objects.safetensors"))
        plain = ocdm.Replay(7)
        plain.add(np.arange(14, dtype="f4").reshape(7, 2), np.arange(7))
        plain.save("plain.safetensors")
        with open("plain.safetensors", "rb") as file:
            data = file.read()
        import json
        header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
        [entry] = [entry for name, entry in header.items() if name.endswith("rows")]
        self.assertEqual((entry["dtype"], entry["shape"]), ("F32", [7, 2]))
        try:
            from safetensors.numpy import load_file
        except ImportError:
            return
        self.assertIn([7, 2], [list(tensor.shape) for tensor in load_file("plain.safetensors").values()])

    def test_objects_need_to_be_allowed_both_times(self):
        filled().save("texts.safetensors")
        self.assertEqual(ocdm.Replay.load("texts.safetensors")[:]["name"], filled()[:]["name"])
        replay = ocdm.Replay(7)
        replay.add({"name": [{1}, {2}]}, np.arange(2))
        replay.save("pickled.safetensors", allow_pickle=True)
        with self.assertRaisesRegex(ValueError, "allow_pickle"):
            ocdm.Replay.load("pickled.safetensors")
        other = ocdm.Replay.load("pickled.safetensors", allow_pickle=True)
        self.assertEqual(other[:]["name"], replay[:]["name"])

    def test_damaged_files_are_refused(self):
        replay = ocdm.Replay(7)
        replay.add(np.arange(7.0), np.arange(7))
        replay.save("whole.safetensors")
        with open("whole.safetensors", "rb") as file:
            whole = file.read()
        replay.memory.save("memory.safetensors")
        with self.assertRaises(ValueError):
            ocdm.Replay.load("memory.safetensors")
        with self.assertRaises(OSError):
            ocdm.Replay.load("missing.safetensors")
        for place in range(0, len(whole), 37):
            damaged = bytearray(whole)
            damaged[place] ^= 0x21
            with open("damaged.safetensors", "wb") as file:
                file.write(damaged)
            with self.assertRaises(ValueError, msg=place):
                ocdm.Replay.load("damaged.safetensors")

    def test_an_old_file_stays_when_a_new_one_cannot_be_written(self):
        replay = ocdm.Replay(7)
        replay.add(np.arange(7.0), np.arange(7))
        replay.save("kept.safetensors")
        with self.assertRaises(OSError):
            replay.save("no/such/folder.safetensors")
        replay.add(np.arange(7.0), np.arange(7))
        with self.assertRaises(ValueError):
            objects = ocdm.Replay(2)
            objects.add([{1}, {2}], [0, 1])
            objects.save("kept.safetensors")
        self.assertEqual(ocdm.Replay.load("kept.safetensors").memory.arrived, 7)


class Jpegs(unittest.TestCase):
    def images(self, shape, count=6):
        """Smooth pictures, each of a colour of its own."""
        y, x = np.mgrid[:shape[0], :shape[1]]
        ramp = (x + y) * 80.0 / (sum(shape) - 2)
        return np.stack([np.stack([ramp + 20 * i, ramp, 160 - ramp], -1) for i in range(count)]).astype("u1")

    def test_images_come_back_about_as_they_were(self):
        for shape, store, tolerance in (((32, 48), "jpeg:90:32", 6), ((64, 40), "jpeg:75:20", 12)):
            for first in (False, True):
                images = self.images(shape)
                images = images.transpose(0, 3, 1, 2).copy() if first else images
                replay = ocdm.Replay(10, store=store)
                replay.add({"image": images, "x": np.zeros((6, 2), "f4")}, np.arange(6))
                found = replay[:]["image"]
                self.assertEqual((found.shape, found.dtype), (images.shape, images.dtype))
                self.assertLess(np.abs(found.astype(int) - images).max(), tolerance + 4)
                self.assertLess(np.abs(found.astype(int) - images).mean(), tolerance / 2)

    def test_the_room_is_that_of_the_program(self):
        """docs/methods.md: 640 + floor(0.15 P^2 sqrt(100 / s))."""
        for store, room in (("jpeg:75:128", 640 + int(0.15 * 128 * 128 * 2**0.5)), ("jpeg:50:64", 640 + int(0.15 * 64 * 64)), ("jpeg:20:64", 640 + int(0.15 * 64 * 64 * (100 / 250)**0.5))):
            replay = ocdm.Replay(capacity_bytes=10 * room + 5, store=store)
            replay.add(self.images((32, 32)), np.arange(6))
            self.assertEqual((replay.memory.capacity, replay.nbytes), (10, 6 * room))

    def test_noise_that_does_not_fit_is_stored_at_lower_quality(self):
        noise = np.random.default_rng(0).integers(0, 256, (4, 64, 64, 3)).astype("u1")
        replay = ocdm.Replay(4, store="jpeg:95:64")
        replay.add(noise, np.arange(4))
        self.assertEqual(replay[:].shape, noise.shape)
        self.assertLess(np.abs(replay[:].astype(int).mean() - noise.mean()), 8)

    def test_states_files_and_folders_keep_the_same_bytes(self):
        replay = ocdm.Replay(4, store="jpeg:75:32")
        replay.add(self.images((32, 32)), np.arange(6))
        replay.save("jpeg.safetensors")
        other = ocdm.Replay(4, store="jpeg:75:32")
        other.load_state_dict(replay.state_dict())
        disk = ocdm.Replay(4, store="jpeg:75:32", store_dir="jpeg")
        disk.add(self.images((32, 32)), np.arange(6))
        for each in (other, ocdm.Replay.load("jpeg.safetensors"), disk, copy.deepcopy(replay)):
            self.assertEqual(each[:].tolist(), replay[:].tolist())
        disk.close()

    def test_what_is_no_image_is_refused(self):
        for bad in ("jpeg", "jpeg:75", "jpeg:75:a", "jpeg:0:64", "jpeg:101:64", "jpeg:75:4", "jpeg:75:64:2", "png:1:2"):
            with self.assertRaises(ValueError, msg=bad):
                ocdm.Replay(4, store=bad)
        replay = ocdm.Replay(4, store="jpeg:75:32")
        for batch in (np.zeros((2, 8, 8, 3)), np.zeros((2, 8, 8), "u1"), ["a", "b"]):
            with self.assertRaisesRegex(ValueError, "needs images"):
                replay.add(batch, [0, 1])

    def test_without_pillow_the_error_says_what_to_install(self):
        code = "import sys; sys.modules['PIL'] = sys.modules['PIL.Image'] = None; import ocdm; ocdm.Replay(4, store='jpeg:75:32')"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertIn("ModuleNotFoundError: store='jpeg:...' needs Pillow", done.stderr)


class Interrupted(unittest.TestCase):
    def test_the_next_call_completes_what_was_interrupted(self):
        """At every line of Python between the decision of the memory and the end of the copy, once."""
        whole, lines = filled(), 0
        batch = {"x": np.full((10, 4), 9, "f4"), "id": np.arange(60, 70), "name": [f"n{i}" for i in range(60, 70)]}
        changes = (lambda replay: replay.add(batch, np.arange(10) % 4, np.arange(60, 70)), lambda replay: replay.forget(int(replay.memory.ids[2])),
                   lambda replay: replay.resize(9), lambda replay: replay.update(np.arange(5), x=np.ones((5, 4), "f4")))
        for change in changes:
            expected = filled()
            change(expected)
            for stop in range(1, 400):
                replay = filled()
                if not self.interrupt(replay, change, stop):
                    break
                lines += 1
                after = replay[:]
                happened = replay.memory._changes != whole.memory._changes or (after["x"] != whole[:]["x"]).any()
                wanted = (expected if happened else whole)[:]
                for part in ("x", "id"):
                    self.assertEqual(after[part].tolist(), wanted[part].tolist(), (stop, part))
                self.assertEqual(after["name"], wanted["name"], stop)
        self.assertGreater(lines, 60)

    def interrupt(self, replay, change, stop):
        count = 0

        def trace(frame, event, argument):
            nonlocal count
            if event == "line" and frame.f_code.co_filename.endswith(("replay.py", "_payload.py")):
                count += 1
                if count == stop:
                    sys.settrace(None)
                    raise KeyboardInterrupt
            return trace

        sys.settrace(trace)
        try:
            change(replay)
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(None)
        return False

    def test_threads_share_a_replay(self):
        replay, wrong = ocdm.Replay(50), []

        def work(number):
            for step in range(150):
                ids = np.arange(10) + 10 * step + 100_000 * number
                replay.add((np.repeat(ids[:, None], 3, 1), ids), ids % 7, ids)
                rows, found = replay.sample(10)
                if (rows != found[:, None]).any():
                    wrong.append(found)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertEqual(replay[:][1].tolist(), replay.memory.ids.tolist())
        self.assertEqual(replay.memory.arrived, 6000)


if __name__ == "__main__":
    tap.main()
