"""Metrics against plain loops, and those of a run."""
import math
import unittest

import numpy as np

import ocdm
import tap


def naive_ap(scores, positive):
    """The sum over thresholds of recall gained times precision."""
    total, last = 0.0, 0.0
    if not positive.any():
        return math.nan
    for threshold in sorted(set(scores.tolist()), reverse=True):
        chosen = scores >= threshold
        recall, precision = positive[chosen].sum() / positive.sum(), positive[chosen].mean()
        total, last = total + (recall - last) * precision, recall
    return total


def naive(scores, targets):
    """All averages, over the classes that have positives."""
    kept = targets.any(0)
    scores, targets = scores[:, kept], targets[:, kept]
    if not kept.any():
        return dict.fromkeys(ocdm.metrics.NAMES, math.nan)
    predicted = scores > 0
    hits, positives, claims = (predicted & targets).sum(0), targets.sum(0), predicted.sum(0)
    precision, recall = hits / np.maximum(claims, 1), hits / positives
    f1 = lambda p, r: 2 * p * r / (p + r) if p + r > 0 else 0.0
    cp, cr, op, recall_all = precision.mean(), recall.mean(), hits.sum() / max(claims.sum(), 1), hits.sum() / positives.sum()
    return {"CF1": f1(cp, cr), "OF1": f1(op, recall_all), "mAP": np.mean([naive_ap(s, t) for s, t in zip(scores.T, targets.T)]),
            "CP": cp, "CR": cr, "CF1_macro": np.mean([f1(p, r) for p, r in zip(precision, recall)]), "OP": op, "OR": recall_all,
            "AUC": np.nanmean([naive_auc(s, t) for s, t in zip(scores.T, targets.T)]), "hamming": (predicted != targets).mean(),
            "ECE": np.mean([naive_ece(s, t) for s, t in zip(scores.T, targets.T)]), **naive_rankings(scores, targets)}


def naive_auc(scores, positive):
    pairs = scores[positive][:, None] - scores[~positive][None]
    return ((pairs > 0) + 0.5 * (pairs == 0)).mean() if pairs.size else math.nan


def naive_ece(scores, positive):
    p = 1 / (1 + np.exp(-scores.astype(np.float64)))
    bins = np.ceil(15 * p)
    return sum(abs(p[bins == b].sum() - positive[bins == b].sum()) for b in range(16)) / len(p)


def naive_rankings(scores, targets):
    loss, depth, wrong = [], [], []
    for row, carried in zip(scores, targets):
        pairs = row[carried][:, None] <= row[~carried][None]
        loss.append(pairs.mean() if pairs.size else 0.0)
        depth.append((row >= row[carried].min()).sum() if carried.any() else 0)
        wrong += [pairs.all(0).any()] if carried.any() else []
    return {"ranking_loss": np.mean(loss), "coverage": np.mean(depth), "one_error": np.mean(wrong)}


def made(seed, samples=60, classes=7):
    random = np.random.default_rng(seed)
    targets = random.random((samples, classes)) < 0.3
    targets[:, 3] = False  # a class that no sample carries
    scores = (targets + random.normal(-0.5, 0.7, targets.shape)).round(1).astype(np.float32)  # with ties
    return scores, targets


class Metrics(unittest.TestCase):
    def compare(self, expected, actual):
        for name in ocdm.metrics.NAMES:
            np.testing.assert_allclose(actual[name], expected[name], rtol=1e-8 if name == "ECE" else 1e-12, err_msg=name)

    def test_averages_are_those_of_plain_loops(self):
        for seed in range(5):
            scores, targets = made(seed)
            self.compare(naive(scores, targets), ocdm.metrics.averages(scores, targets))

    def test_averages_of_groups_are_those_of_their_classes(self):
        scores, targets = made(1)
        groups = np.arange(7) % 3
        for group in range(3):
            chosen = groups == group
            self.compare(naive(scores[:, chosen], targets[:, chosen]), ocdm.metrics.averages(scores, targets, groups, group))
        self.compare(naive(scores[:, :0], targets[:, :0]), ocdm.metrics.averages(scores, targets, groups, 9))

    def test_labels_are_taken_in_every_form(self):
        scores, targets = made(2)
        lists = [np.flatnonzero(row).tolist() for row in targets]
        starts = np.cumsum([0, *map(len, lists)])
        for labels in (targets, targets.astype(np.float32), lists, (starts, np.array(sum(lists, [])))):
            self.assertEqual(ocdm.metrics.mAP(scores, labels), ocdm.metrics.averages(scores, targets)["mAP"])
        self.assertEqual(ocdm.metrics.CF1(scores, lists), ocdm.metrics.averages(scores, targets)["CF1"])
        self.assertEqual(ocdm.metrics.OF1(scores, lists), ocdm.metrics.averages(scores, targets)["OF1"])

    def test_each_class_is_counted(self):
        scores, targets = made(3)
        found = ocdm.metrics.class_scores(scores, targets)
        np.testing.assert_array_equal(found["positives"], targets.sum(0))
        np.testing.assert_array_equal(found["predicted"], (scores > 0).sum(0))
        np.testing.assert_array_equal(found["hits"], ((scores > 0) & targets).sum(0))
        for c in range(7):
            np.testing.assert_allclose(found["ap"][c], naive_ap(scores[:, c], targets[:, c]), rtol=1e-12)
            np.testing.assert_allclose(ocdm.metrics.AP(scores[:, c], targets[:, c]), found["ap"][c], rtol=1e-12)
            np.testing.assert_allclose(found["auc"][c], naive_auc(scores[:, c], targets[:, c]), rtol=1e-12)
        self.assertEqual(found["samples"].tolist(), [60] * 7)
        self.assertTrue(math.isnan(found["ece"][3]))

    def test_forgetting_is_the_best_earlier_value_minus_the_last(self):
        nan = math.nan
        mean, each = ocdm.metrics.forgetting([[0.5, nan, nan], [0.7, 0.4, nan], [0.6, 0.5, 0.9]])
        np.testing.assert_allclose(each, [0.1, -0.1, nan])
        self.assertAlmostEqual(mean, 0.0)
        self.assertTrue(math.isnan(ocdm.metrics.forgetting([[0.5]])[0]))

    def test_best_threshold_is_the_best_of_all(self):
        scores, targets = made(3)
        found = ocdm.metrics.best_threshold(scores, targets)
        tried = [ocdm.metrics.CF1(scores, targets, threshold=float(each)) for each in np.append(np.unique(scores), scores.min() - 1)]
        self.assertAlmostEqual(ocdm.metrics.CF1(scores, targets, threshold=found), max(tried), 12)
        self.assertGreater(max(tried), ocdm.metrics.CF1(scores, targets))
        shifted = ocdm.metrics.averages(scores - np.float32(found), targets)
        self.assertEqual(ocdm.metrics.averages(scores, targets, threshold=found)["OF1"], shifted["OF1"])
        self.assertEqual(ocdm.metrics.class_scores(scores, targets, found)["predicted"].sum(), (scores > np.float32(found)).sum())
        self.assertTrue(math.isnan(ocdm.metrics.best_threshold([[1.0]], [[]])))

    def test_transfer_is_what_other_tasks_add(self):
        nan = math.nan
        maps = [[0.5, nan, nan], [0.7, 0.4, nan], [0.6, 0.5, 0.9]]
        backward, forward = ocdm.metrics.transfer(maps, [nan, 0.3, 0.2], [0.1, 0.1, 0.3])
        self.assertAlmostEqual(backward, 0.1)
        self.assertAlmostEqual(forward, 0.05)
        self.assertTrue(math.isnan(ocdm.metrics.transfer(maps)[1]))
        self.assertRaises(ValueError, ocdm.metrics.transfer, maps, [0.1, 0.1, 0.1])
        with self.assertRaisesRegex(ValueError, r"fresh must have a value for each of the 3 tasks, not the shape \[1\]"):
            ocdm.metrics.transfer(maps, [0.1, 0.1, 0.1], [0.1])
        self.assertRaises(ValueError, ocdm.metrics.transfer, maps, [0.1], [0.1])
        self.assertRaises(ValueError, ocdm.metrics.transfer, [0.5])

    def test_what_makes_no_sense_is_refused(self):
        scores, targets = made(4)
        cases = [(scores[0], targets), (scores, targets[:-1]), (scores, [[7]] * 60), (scores, [["a"]] * 60),
                 (np.where(scores > 1, np.nan, scores), targets), (scores[:, :-1], targets), (scores, targets[:, :-1])]
        for bad_scores, labels in cases:
            self.assertRaises(ValueError, ocdm.metrics.averages, bad_scores, labels)
        self.assertRaises(ValueError, ocdm.metrics.averages, scores, targets, [0] * 6, 0)
        self.assertRaises(ValueError, ocdm.metrics.averages, scores, targets, [0] * 7)
        self.assertRaises(ValueError, ocdm.metrics.AP, [1.0], [1, 0])
        self.assertRaises(ValueError, ocdm.metrics.forgetting, [0.5])


class Memory(unittest.TestCase):
    def test_scores_may_be_misaligned(self):
        room = np.zeros(4 * 6 + 1, np.uint8)
        scores = room[1:].view(np.float32).reshape(2, 3)
        scores[:] = [[1.5, -1, 2], [-0.5, 3, 0.1]]
        labels = [[0, 2], [1]]
        self.assertFalse(scores.flags.aligned)
        self.assertEqual(ocdm.metrics.averages(scores, labels), ocdm.metrics.averages(scores.copy(), labels))
        self.assertEqual(ocdm.metrics.AP(scores[0], [1, 0, 0]), 0.5)
        maps = np.zeros(8 * 4 + 1, np.uint8)[1:].view(np.float64).reshape(2, 2)
        self.assertEqual(ocdm.metrics.forgetting(maps)[0], 0)

    def test_more_classes_than_memory_can_hold(self):
        with self.assertRaises(MemoryError):
            ocdm.metrics.class_scores(np.zeros((0, 2**60), np.float32), [])

    def test_one_class_may_have_integers_in_a_column(self):
        self.assertEqual(ocdm.metrics.class_scores([[1.0], [-1.0]], np.array([[1], [0]]))["hits"].tolist(), [1])


if __name__ == "__main__":
    tap.main()
