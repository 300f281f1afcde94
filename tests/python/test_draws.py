"""Draws by weights: those of `ocdm run`, and those of a judge that follows the words of src/memory/memory.c and base/random.h."""
import collections
import math
import unittest

import numpy as np

import ocdm
import streams
import tap

MASK = (1 << 64) - 1
STEP, REPLAY = 0x9E3779B97F4A7C15, 13


def mix(x):
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


class Judge:
    """Numbers on [0, 1) for draw `number` under a seed."""

    def __init__(self, seed, number):
        base = mix(mix(mix(seed + STEP & MASK) ^ (REPLAY * 0xD1342543DE82EF95 & MASK)) + STEP & MASK)
        self.state = mix(mix(base + (number + 1) * STEP & MASK) ^ 0xA0761D6478BD642F)

    def unit(self):
        self.state = self.state + STEP & MASK
        return (mix(self.state) >> 11) * 2.0**-53

    def apart(self, weights, count):
        """The slots with the smallest exponential variables; ties cannot be told apart by anybody."""
        keys = [(-math.log(1 - self.unit()) / w if w > 0 else self.unit() and math.inf, slot) for slot, w in enumerate(weights)]
        return [slot for key, slot in sorted(keys)[:count] if key < math.inf]

    def again(self, weights, count):
        sums = np.cumsum(weights)
        return [int(np.searchsorted(sums, self.unit() * sums[-1], side="right")) for _ in range(count)]


def filled(capacity=50, **options):
    memory = ocdm.Memory(capacity, **options)
    chance = np.random.default_rng(5)
    for step in range(30):
        memory.update(None, [sorted({int(c) for c in chance.integers(0, 6, chance.integers(0, 4))}) for _ in range(10)])
    return memory


def balanced(memory):
    kept = dict(zip(memory.counts["id"].tolist(), memory.counts["kept"].tolist()))
    bare = memory.labels().count([])
    return [sum(1 / kept[c] for c in labels) if labels else 1 / bare for labels in memory.labels()]


class Draws(unittest.TestCase):
    def test_draws_are_those_of_the_judge(self):
        memory = filled(seed=9)
        weights = np.random.default_rng(1).random(50)
        for number in range(0, 80, 4):
            self.assertEqual(memory.draw(7, "balanced").tolist(), Judge(9, number).apart(balanced(memory), 7))
            self.assertEqual(memory.draw(7, weights=weights).tolist(), Judge(9, number + 1).apart(weights, 7))
            self.assertEqual(memory.draw(90, weights=weights, replace=True).tolist(), Judge(9, number + 2).again(weights, 90))
            both = np.array(balanced(memory)) * weights
            both[[3, 5]] = 0
            self.assertEqual(memory.draw(60, "balanced", weights, exclude=[3, 5, 5]).tolist(), Judge(9, number + 3).apart(both, 60))

    def test_draws_by_loss_are_by_the_priorities(self):
        replay, priorities = ocdm.Replay(20, seed=4), np.random.default_rng(2).random(20).astype("f4")
        replay.add(np.arange(20), np.arange(20) % 3)
        self.assertEqual(replay.sample(5, "loss", return_index=True)[0].tolist(), Judge(4, 0).apart([1] * 20, 5))
        replay.update(np.arange(10), priority=priorities[:10])
        known = priorities.astype("f8")
        known[10:] = known[:10].max()
        self.assertEqual(replay.sample(5, "loss", return_index=True)[0].tolist(), Judge(4, 1).apart(np.maximum(known, 1e-6), 5))
        replay.update(np.arange(20), priority=np.zeros(20))
        self.assertEqual(replay.sample(5, "loss", return_index=True)[0].tolist(), Judge(4, 2).apart([1e-6] * 20, 5))

    def test_new_samples_have_the_largest_priority_until_they_have_their_own(self):
        replay = ocdm.Replay(4, policy="rs")
        replay.add(np.arange(4), np.arange(4), priority=[1, 2, 3, 0])
        change = replay.add(np.arange(100, 200), np.zeros(100, int))
        self.assertTrue(len(change.slots))
        expected = [1.0, 2.0, 3.0, 1e-6]
        for slot in change.slots:
            expected[slot] = max((value for other, value in enumerate(expected) if other not in change.slots), default=1)
        np.testing.assert_allclose(replay._loss_weights(), expected)

    def test_shares_are_those_of_the_weights(self):
        memory, counts = filled(10), collections.Counter()
        for _ in range(4000):
            counts.update(memory.draw(1, weights=np.arange(10)).tolist())
        for slot in range(10):
            self.assertAlmostEqual(counts[slot] / 4000, slot / 45, delta=0.025)

    def test_uniform_draws_are_as_they_were(self):
        one, other = filled(seed=3), filled(seed=3)
        for count in (0, 1, 10, 70):
            self.assertEqual(one.draw(count).tolist(), other.draw(count, by="uniform", weights=None, replace=False, exclude=None).tolist())

    def test_draws_change_no_decision(self):
        one, other = filled(), filled()
        one.draw(10, "balanced"), one.draw(10, replace=True)
        for memory in (one, other):
            memory.update(None, [[1], [2], [3]] * 20)
        self.assertEqual(one.ids.tolist(), other.ids.tolist())

    def test_nothing_to_draw_gives_nothing(self):
        empty, memory = ocdm.Memory(5), filled(5)
        for draw in (dict(), dict(by="balanced"), dict(replace=True), dict(by="balanced", replace=True), dict(weights=[])):
            self.assertEqual(empty.draw(3, **draw).tolist(), [])
        self.assertEqual(memory.draw(3, weights=np.zeros(5)).tolist(), [])
        self.assertEqual(memory.draw(3, weights=np.zeros(5), replace=True).tolist(), [])
        self.assertEqual(memory.draw(3, exclude=range(5)).tolist(), [])

    def test_what_makes_no_sense_is_refused_and_is_no_draw(self):
        memory = filled(5)
        before = memory._save_bytes()
        for bad in (dict(by="loss"), dict(by=3), dict(weights=[1, 2]), dict(weights=[1, 2, 3, 4, math.nan]), dict(weights=[1, 2, 3, 4, -1]),
                    dict(weights=[1, 2, 3, 4, math.inf]), dict(weights="no"), dict(weights=np.ones((5, 1))), dict(exclude=[[1]])):
            with self.assertRaises(ValueError, msg=bad):
                memory.draw(2, **bad)
        for bad in ([5], [-1]):
            with self.assertRaises(IndexError):
                memory.draw(2, exclude=bad)
        for bad in (dict(count=-1), dict(count=2**63)):
            with self.assertRaises(ValueError):
                memory.draw(**bad)
        self.assertEqual(memory._save_bytes(), before)


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        streams.enter_folder(cls)
        streams.make_scenes()

    def test_balanced_draws_are_those_of_a_run(self):
        """Sample by sample, with a memory beside the run that sees the same batches."""
        stream, memory, compared = ocdm.Stream("scenes.safetensors"), ocdm.Memory(40, seed=6), 0
        with ocdm.Run(stream, "run", name="zeros", memory=40, batch=10, replay=7, seed=6, replay_policy="balanced") as run:
            for step in run:
                self.assertEqual(step.replayed.tolist(), memory.ids[memory.draw(7, by="balanced")].tolist())
                memory.update(step.new, [np.flatnonzero(row).tolist() for row in stream.targets(step.new)])
                compared += 1
                if compared == 120:
                    break
                step.done(0.5)
                if step.evaluate:
                    run.evaluate(np.zeros((len(run.test_samples), stream.class_count)))
        self.assertEqual(compared, 120)


if __name__ == "__main__":
    tap.main()
