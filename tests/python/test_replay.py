"""Payloads: what is sampled is what was added, in every nest, store and after every change."""
import copy
import itertools
import os
import pickle
import random
import subprocess
import sys
import unittest

import numpy as np

import ocdm
import tap


def batches(count=30, size=10, width=6, seed=0):
    chance = np.random.default_rng(seed)
    for step in range(count):
        ids = np.arange(size * step, size * step + size)
        features = (chance.normal(size=(size, width)) + ids[:, None]).astype(np.float32)
        labels = [sorted({int(c) for c in chance.integers(0, 8, chance.integers(1, 4))}) for _ in range(size)]
        yield ids, features, labels


def filled(capacity=40, **options):
    replay, truth = ocdm.Replay(capacity, **options), {}
    for ids, features, labels in batches():
        truth.update(zip(ids.tolist(), features))
        replay.add({"x": features, "id": ids, "name": [f"n{i}" for i in ids], "more": (features[:, :2], [None] * len(ids))}, labels, ids)
    return replay, truth


class Payloads(unittest.TestCase):
    def same(self, replay, truth, tolerance=0):
        whole = replay[:]
        self.assertEqual(whole["id"].tolist(), replay.memory.ids.tolist())
        for i, x, name, part in zip(whole["id"].tolist(), whole["x"], whole["name"], whole["more"][0]):
            self.assertEqual(name, f"n{i}")
            self.assertLessEqual(np.abs(x - truth[i]).max(), tolerance)
            self.assertLessEqual(np.abs(part - truth[i][:2]).max(), tolerance)
        self.assertEqual(whole["more"][1], [None] * len(replay))

    def test_payloads_follow_the_memory(self):
        replay, truth = filled()
        self.assertEqual(len(replay), 40)
        self.same(replay, truth)
        plain = ocdm.Memory(40)
        for ids, _, labels in batches():
            plain.update(ids, labels)
        self.assertEqual(replay.memory, plain)

    def test_one_number_per_sample_is_kept_in_a_byte(self):
        replay = ocdm.Replay(40, store="u8")
        for first in range(0, 400, 10):
            ids = np.arange(first, first + 10)
            replay.add({"x": (ids % 256).astype(np.float32), "same": np.ones(10, np.float32), "id": ids}, ids % 4, ids)
        whole = replay[:]
        self.assertLessEqual(np.abs(whole["x"] - whole["id"] % 256).max(), 0.5)
        self.assertEqual(whole["same"].tolist(), [1.0] * 40)

    def test_a_task_moves_payloads(self):
        replay = ocdm.Replay(capacity=9, policy="bat-ocdm")
        for task in range(3):
            if task > 0:
                change = replay.begin_task()
                self.assertEqual(len(replay), 9 - len(change.left_slots))
            for first in range(0, 30, 5):
                numbers = np.arange(first, first + 5) + 100 * task
                replay.add({"number": numbers}, (numbers % 4).astype(np.int64), numbers)
        self.assertEqual(sorted(np.unique(replay[:]["number"] // 100, return_counts=True)[1].tolist()), [3, 3, 3])
        for slot in range(9):
            self.assertEqual(int(replay[slot]["number"]) % 4, replay.memory.labels()[slot][0])

    def test_a_memory_of_tasks_takes_its_capacity_in_bytes(self):
        replay = ocdm.Replay(capacity_bytes=9 * 8, policy="bat-ocdm")
        for task in range(3):
            replay.begin_task()
            for first in range(0, 30, 5):
                numbers = np.arange(first, first + 5) + 100 * task
                replay.add({"number": numbers}, (numbers % 4).astype(np.int64), numbers)
        self.assertEqual(sorted(np.unique(replay[:]["number"] // 100, return_counts=True)[1].tolist()), [3, 3, 3])

    def test_forget_and_resize_move_payloads(self):
        replay, truth = filled()
        for i in replay.memory.ids[[0, 7, 39, 3]].tolist():
            replay.forget(i)
            self.same(replay, truth)
        replay.resize(11)
        self.same(replay, truth)
        replay.resize(50)
        self.same(replay, truth)
        self.assertEqual(len(replay), 11)

    def test_samples_are_draws_of_the_memory(self):
        replay, _ = filled()
        twin = copy.copy(replay.memory)
        slots, sample = replay.sample(7, return_index=True)
        self.assertEqual(slots.tolist(), twin.draw(7).tolist())
        self.assertEqual(sample["id"].tolist(), replay.memory.ids[slots].tolist())
        self.assertEqual(len(replay.sample(1000)["name"]), 40)

    def test_indexes(self):
        replay, _ = filled()
        one = replay[3]
        self.assertEqual((one["name"], one["x"].shape), (f"n{one['id']}", (6,)))
        self.assertEqual(replay[-1]["id"], replay[39]["id"])
        self.assertEqual(replay[np.array([3, -1])]["id"].tolist(), [replay[3]["id"], replay[39]["id"]])
        self.assertEqual(len(replay[5:15:2]["name"]), 5)
        for index in (40, -41, [0, 99], 1.5, np.array([True])):
            with self.assertRaises(IndexError):
                replay[index]

    def test_every_kind_of_nest_comes_back_as_it_was(self):
        from collections import namedtuple
        Pair = namedtuple("Pair", "a b")
        x = np.arange(12.0).reshape(4, 3)
        for batch in (x, (x, x), [x, x], Pair(x, [1, 2, 3, 4]), {"a": {"b": (x,)}}, [object()] * 4, (["a"] * 4, x[:, 0])):
            replay = ocdm.Replay(10)
            replay.add(batch, [[0]] * 4)
            sample = replay.sample(2)
            self.assertIs(type(sample), type(batch))
            self.assertEqual(len(sample[0] if isinstance(sample, (tuple,)) else sample) >= 1, True)
        self.assertEqual(Pair(x, x)._fields, type(Pair(x, x))._fields)

    def test_a_wrong_batch_changes_nothing(self):
        replay, truth = filled()
        x, ids = np.zeros((3, 6), np.float32), np.arange(1000, 1003)
        good = {"x": x, "id": ids, "name": ["a"] * 3, "more": (x[:, :2], [0] * 3)}
        bad = [
            ({**good, "x": x[:2]}, [[0]] * 3), ({**good, "x": x[:, :5]}, [[0]] * 3), ({**good, "x": x.astype(float)}, [[0]] * 3),
            ({**good, "x": x.tolist()}, [[0]] * 3), ({**good, "name": "abc"}, [[0]] * 3), ({**good, "more": (x[:, :2],)}, [[0]] * 3),
            ({"x": x}, [[0]] * 3), (x, [[0]] * 3), (good, [[0]] * 2), (good, [[0]] * 4), (good, [[-1]] * 3), (good, [[0.5]] * 3),
        ]
        before = replay.memory._save_bytes()
        for batch, labels in bad:
            with self.assertRaises(ValueError):
                replay.add(batch, labels)
        with self.assertRaises(ValueError):
            replay.add(good, [[0]] * 3, ids=[1])
        with self.assertRaises(KeyError):
            replay.add(good, [[0]] * 3, ids=[5000, 5001, int(replay.memory.ids[0])])
        self.assertEqual(replay.memory._save_bytes(), before)
        self.same(replay, truth)
        for batch in ((), {}, np.array(3), "abc", 7):
            with self.assertRaises(ValueError):
                ocdm.Replay(3).add(batch, [[0]])
        for options in ({}, {"capacity": 3, "capacity_bytes": 3}, {"capacity": 3, "store": "u4"}, {"capacity_bytes": 0}):
            with self.assertRaises(ValueError):
                ocdm.Replay(**options)
        with self.assertRaises(ValueError):
            ocdm.Replay(3).sample(1)


class Stores(unittest.TestCase):
    def test_bytes_are_reported_and_values_are_near(self):
        chance = np.random.default_rng(1)
        for store, width, tolerance in ((None, 4, 0), ("f32", 4, 0), ("f16", 2, 2e-3), ("u8", 1, 8 / 255 / 2 + 1e-6)):
            replay, truth = ocdm.Replay(500, store=store), []
            for _ in range(60):
                x = chance.uniform(-4, 4, (10, 32)).astype(np.float32)
                x[0], x[1] = -4, 4  # so that the first batches have the whole range
                truth.append(x)
                replay.add({"x": x, "id": np.arange(10)}, chance.integers(0, 9, 10))
            with self.subTest(store=store):
                self.assertEqual(replay.nbytes, 500 * (32 * width + 8))
                kept = replay[:]["x"]
                self.assertEqual(kept.dtype, np.float32)
                found = np.concatenate(truth)[replay.memory.arrivals]
                self.assertLessEqual(np.abs(kept - found).max(), tolerance)

    def test_u8_is_exact_while_it_learns_and_clips_afterwards(self):
        replay = ocdm.Replay(1000, store="u8")
        x = np.linspace(0, 1, 256, dtype=np.float64).reshape(256, 1)
        replay.add(x, [[0]] * 256)
        self.assertLess(np.abs(replay[:] - x).max(), 1e-7)
        replay.add(np.array([[7.0], [-7.0], [0.5]]), [[1]] * 3)
        self.assertLessEqual(np.abs(replay[:256] - x).max(), 0.5 / 255 + 1e-7)
        self.assertEqual(replay[256:258].ravel().tolist(), [1.0, 0.0])
        self.assertEqual(replay[:].dtype, np.float64)
        constant = ocdm.Replay(1000, store="u8")
        for _ in range(3):
            constant.add(np.full((200, 2), 3.5), [[0]] * 200)
        self.assertTrue((constant[:] == 3.5).all())
        with self.assertRaises(ValueError):
            constant.add(np.array([[np.nan, 0]]), [[0]])

    def test_f16_clips_to_its_range(self):
        replay = ocdm.Replay(3, store="f16")
        replay.add(np.array([[1e9], [-1e9]]), [[0], [1]])
        self.assertEqual(replay[:].ravel().tolist(), [65504, -65504])

    def test_capacity_in_bytes(self):
        for store, size in ((None, 40), ("u8", 10)):
            replay = ocdm.Replay(capacity_bytes=1000, store=store)
            for _, features, labels in batches(width=10):
                replay.add(features, labels)
            self.assertEqual(len(replay), 1000 // size)
            self.assertLessEqual(replay.nbytes, 1000)
        with self.assertRaises(ValueError):
            ocdm.Replay(capacity_bytes=100).add(["a"], [[0]])


    def test_all_is_allocated_before_the_memory_changes(self):
        code = """
import numpy as np, ocdm

def refused(call):
    try:
        call()
    except MemoryError:
        return True

batch, labels = np.ones((100, 1000)), [[0]] * 100
for store in (None, "f16"):
    replay = ocdm.Replay(2_000_000_000, store=store)
    assert refused(lambda: replay.add(batch, labels))
    assert len(replay) == replay.memory.arrived == 0
replay = ocdm.Replay(50)
replay.add(batch, labels)
before = replay.state_dict()
assert refused(lambda: replay.resize(2_000_000_000))
assert replay.memory.capacity == 50
replay.add(batch, labels)
assert replay.sample(10).shape == (10, 1000)
"""
        environment = {key: value for key, value in os.environ.items() if key not in ("LD_PRELOAD", "PYTHONMALLOC")}
        environment["PYTHONPATH"] = os.environ["OCDM_RELEASE"]
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_labels_that_empty_the_batch_are_read_from_a_copy(self):
        batch = [f"n{i}" for i in range(5)]

        def labels():
            for i in range(5):
                batch.clear()
                yield [i]

        replay = ocdm.Replay(10)
        replay.add(batch, labels())
        self.assertEqual(sorted(replay[:]), [f"n{i}" for i in range(5)])

    def test_a_refused_batch_leaves_the_ranges_of_u8_as_they_were(self):
        for offered in (10, 250, 300):
            replay, twin = ocdm.Replay(20, store="u8"), ocdm.Replay(20, store="u8")
            for _, features, labels in batches(offered // 10):
                replay.add(features, labels)
                twin.add(features, labels)
                with self.assertRaises(ValueError):
                    replay.add(1000 * features, [None] * 10)
            self.assertEqual(replay[:].tolist(), twin[:].tolist())

    def test_clear_begins_anew(self):
        replay, fresh = ocdm.Replay(40, seed=3, tie="oldest", rho=0.5), ocdm.Replay(40, seed=3, tie="oldest", rho=0.5)
        sampler = iter(replay.sampler(4))
        for _, features, labels in batches():
            replay.add((features, labels), labels)
        next(sampler)
        replay.clear()
        self.assertEqual((len(replay), replay.memory), (0, fresh.memory))
        for _, features, labels in batches(seed=5):
            replay.add(features, labels)
            fresh.add(features, labels)
        self.assertEqual(replay.memory, fresh.memory)
        self.assertEqual(replay[next(sampler)].tolist(), fresh[fresh.memory.draw(4)].tolist())
        limited = ocdm.Replay(capacity_bytes=800)
        for width in (10, 5):
            limited.clear()
            limited.add(np.zeros((500, width)), [[0]] * 500)
            self.assertEqual(len(limited), 800 // (8 * width))

    def test_an_empty_replay_gives_empty_batches_once_it_knows_their_form(self):
        replay = ocdm.Replay(5)
        for take in (lambda: replay.sample(3), lambda: replay[:], lambda: replay[[]]):
            with self.assertRaisesRegex(ValueError, "nothing was added"):
                take()
        replay.add({"x": np.zeros((1, 4)), "name": ["a"]}, [[0]], [7])
        replay.forget(7)
        for sample in (replay.sample(3), replay[:], replay[[]]):
            self.assertEqual((sample["x"].shape, sample["name"]), ((0, 4), []))


class Loops(unittest.TestCase):
    def test_stream_yields_new_and_replayed_samples_and_then_adds(self):
        replay, twin = ocdm.Replay(20), ocdm.Replay(20)
        loader = [(features, np.array([labels[0] for labels in sets])) for _, features, sets in batches(8)]
        for (x, y), (new_x, new_y) in zip(replay.stream(loader, replay=5), loader):
            self.assertEqual(x[:10].tolist(), new_x.tolist())
            if len(twin):
                old_x, old_y = twin.sample(5)
                self.assertEqual((x[10:].tolist(), y[10:].tolist()), (old_x.tolist(), old_y.tolist()))
            else:
                self.assertEqual(len(x), 10)
            twin.add((new_x, new_y), new_y)
        self.assertEqual(replay.memory, twin.memory)

    def test_a_loop_that_stops_anywhere_and_is_resumed_ends_with_the_same_weights(self):
        loader = [(features, np.eye(8, dtype=np.float32)[[labels[0] for labels in sets]]) for _, features, sets in batches(9)]

        def learn(state, first, last):
            """Batches first to last; the state is saved in the body, after the step, and the loop is left by break."""
            replay, weights = ocdm.Replay(20), np.zeros((6, 8), np.float32)
            if state is not None:
                weights = state["weights"]
                replay.load_state_dict(state["replay"])
            for step, (x, y) in enumerate(replay.stream(itertools.islice(loader, first, None), replay=5), first):
                weights = weights - 0.01 * x.T @ (x @ weights - y)
                if step == last:
                    return {"weights": weights, "replay": replay.state_dict()}

        whole = learn(None, 0, 8)
        for stop in range(8):
            parts = learn(pickle.loads(pickle.dumps(learn(None, 0, stop))), stop + 1, 8)
            self.assertEqual(parts["weights"].tobytes(), whole["weights"].tobytes())
            self.assertEqual(parts["replay"]["memory"]["ids"].tolist(), whole["replay"]["memory"]["ids"].tolist())

    def test_a_batch_is_in_the_memory_in_the_body_of_the_loop(self):
        replay = ocdm.Replay(100)
        for step, _ in enumerate(replay.stream([(np.zeros((10, 2)), np.arange(10))] * 3)):
            self.assertEqual(replay.memory.arrived, 10 * (step + 1))

    def test_stream_takes_the_labels_from_where_it_is_told(self):
        replay = ocdm.Replay(20)
        loader = [{"x": features, "classes": labels} for _, features, labels in batches(4)]
        sizes = [len(batch["classes"]) for batch in replay.stream(loader, 3, labels=lambda batch: batch["classes"])]
        self.assertEqual(sizes, [10, 13, 13, 13])

    def test_samplers_draw_when_asked(self):
        replay, _ = filled()
        twin = copy.copy(replay.memory)
        sampler = replay.sampler(4, batches=3)
        self.assertEqual(len(sampler), 3)
        self.assertEqual([slots.tolist() for slots in sampler], [twin.draw(4).tolist() for _ in range(3)])
        endless = iter(replay.sampler(4))
        self.assertEqual([len(next(endless)) for _ in range(9)], [4] * 9)
        with self.assertRaises(TypeError):
            len(replay.sampler(4))

    def test_river_and_scikit_learn(self):
        replay = ocdm.Replay(30)
        for i in range(50):
            replay.learn_one({"a": i}, {"even": i % 2 == 0, "third": i % 3 == 0, "any": True})
        x, y = replay.sample(4)
        self.assertTrue(all(set(labels) == {"even", "third", "any"} for labels in y))
        self.assertTrue(all("any" in labels for labels in replay.memory.labels()))
        ocdm.Replay(3).learn_one([1], "cat").learn_one([2], {"cat", "dog"})
        ocdm.Replay(3).learn_one([1], True).learn_one([2], 0).learn_one([3], np.int64(7))
        replay = ocdm.Replay(30)
        for _ in range(5):
            replay.partial_fit(np.zeros((10, 3)), np.arange(10) % 3, classes=[0, 1, 2])
        self.assertEqual(replay.memory.counts["kept"].tolist(), [10, 10, 10])


class States(unittest.TestCase):
    def test_a_state_is_the_whole_replay(self):
        for store in (None, "f16", "u8"):
            for capacity in (40, 1000):
                replay, truth = filled(capacity, store=store)
                other = ocdm.Replay(capacity)
                other.load_state_dict(pickle.loads(pickle.dumps(replay.state_dict())))
                self.going_on(replay, other)
                self.going_on(replay, pickle.loads(pickle.dumps(replay)))
                self.going_on(replay, copy.deepcopy(replay))

    def going_on(self, replay, other):
        replay = copy.deepcopy(replay)
        for each in (replay, other):
            for ids, x, labels in batches(5, seed=4):
                ids = ids + 5000
                each.add({"x": x, "id": ids, "name": [f"n{i}" for i in ids], "more": (x[:, :2], [None] * 10)}, labels, ids)
        self.assertEqual(replay.memory, other.memory)
        self.assertEqual(replay[:]["x"].tolist(), other[:]["x"].tolist())
        self.assertEqual(replay.sample(3)["name"], other.sample(3)["name"])

    def test_a_state_of_another_capacity_is_refused_until_it_is_resized(self):
        replay, _ = filled()
        other, _ = filled(17)
        before = other[:]["x"].tolist()
        with self.assertRaisesRegex(ValueError, r"capacity 40, and this is of capacity 17; resize\(40\) first"):
            other.load_state_dict(replay.state_dict())
        self.assertEqual(other[:]["x"].tolist(), before)
        other.resize(40)
        other.load_state_dict(replay.state_dict())
        self.going_on(replay, other)
        limited = ocdm.Replay(capacity_bytes=400)
        limited.add(np.zeros((20, 5)), [[0]] * 20)
        fresh = ocdm.Replay(capacity_bytes=400)
        fresh.load_state_dict(limited.state_dict())
        self.assertEqual((len(fresh), fresh.memory.capacity), (10, 10))
        with self.assertRaises(ValueError):
            ocdm.Replay(capacity_bytes=401).load_state_dict(limited.state_dict())

    def test_a_state_that_is_not_whole_changes_nothing(self):
        replay, truth = filled()
        before = replay.memory._save_bytes()
        for damage in (lambda s: s.pop("memory"), lambda s: s.pop("leaves"), lambda s: s.update(more=1), lambda s: s["leaves"].pop(),
                       lambda s: s["leaves"][0].update(rows=s["leaves"][0]["rows"][1:]), lambda s: s["leaves"][0].pop("scale"),
                       lambda s: s["leaves"][0].update(rows=s["leaves"][0]["rows"].astype(float)),
                       lambda s: s["leaves"][0].update(dtype="x"), lambda s: s["leaves"][0].update(dtype="torch.float32"), lambda s: s.update(structure=(0, 1)),
                       lambda s: s["memory"].pop("labels"), lambda s: s.update(leaves=None)):
            state = copy.deepcopy(replay.state_dict())
            damage(state)
            with self.assertRaises(ValueError):
                replay.load_state_dict(state)
            self.assertEqual(replay.memory._save_bytes(), before)
        for state in (None, [], {}):
            with self.assertRaises(ValueError):
                replay.load_state_dict(state)

    def test_damaged_states_are_refused_or_give_a_replay_that_works(self):
        chance = random.Random(6)
        refused = 0
        for store in (None, "u8"):
            source, _ = filled(20, store=store)
            for _ in range(150):
                state = copy.deepcopy(source.state_dict())
                self.damage(state, chance)
                replay = ocdm.Replay(20)
                try:
                    replay.load_state_dict(state)
                except ValueError:
                    refused += 1
                    self.assertEqual((len(replay), replay.memory.capacity), (0, 20))
                else:
                    self.going_on(replay, pickle.loads(pickle.dumps(replay)))
        self.assertGreater(refused, 150)

    def damage(self, state, chance):
        """Puts something else in the place of a value at any depth, except of the payloads themselves, which may be anything."""
        parts = [state, *state["leaves"]]
        part = chance.choice(parts)
        name = chance.choice(sorted(part))
        if name == "memory":
            name = chance.choice(sorted(state["memory"]))
            part = state["memory"]
        part[name] = chance.choice([7, -1, "x", [], (), [1], {}, 0.5, np.zeros((2, 2), np.float32), np.zeros(3, np.int16), b"x"])


if __name__ == "__main__":
    tap.main()
