"""Metrics against scikit-learn, and tensors as arguments."""
import unittest

import numpy as np
import sklearn.metrics
import torch

import ocdm
import tap


def made(seed):
    random = np.random.default_rng(seed)
    targets = random.random((300, 12)) < random.random(12) * 0.5
    targets[0] = True
    return (targets + random.normal(-0.5, 0.8, targets.shape)).round(2).astype(np.float32), targets


class Judge(unittest.TestCase):
    def test_metrics_are_those_of_scikit_learn(self):
        for seed in range(5):
            scores, targets = made(seed)
            predicted, ours = scores > 0, ocdm.metrics.averages(scores, targets)
            judge = lambda name, average: getattr(sklearn.metrics, name)(targets, predicted, average=average, zero_division=0)
            expected = {"mAP": sklearn.metrics.average_precision_score(targets, scores, average="macro"),
                        "OF1": judge("f1_score", "micro"), "OP": judge("precision_score", "micro"),
                        "OR": judge("recall_score", "micro"), "CF1_macro": judge("f1_score", "macro"),
                        "CP": judge("precision_score", "macro"), "CR": judge("recall_score", "macro")}
            expected["CF1"] = 2 * expected["CP"] * expected["CR"] / (expected["CP"] + expected["CR"])
            expected.update(AUC=sklearn.metrics.roc_auc_score(targets, scores, average="macro"),
                            ranking_loss=sklearn.metrics.label_ranking_loss(targets, scores),
                            coverage=sklearn.metrics.coverage_error(targets, scores),
                            hamming=sklearn.metrics.hamming_loss(targets, predicted))
            self.assertEqual(set(expected) | {"one_error", "ECE"}, set(ours))
            for name, value in expected.items():
                self.assertAlmostEqual(ours[name], value, places=12, msg=name)
            for c in range(12):
                self.assertAlmostEqual(ocdm.metrics.AP(scores[:, c], targets[:, c]),
                                       sklearn.metrics.average_precision_score(targets[:, c], scores[:, c]), places=12)

    def test_tensors_are_taken_with_their_gradients(self):
        scores, targets = made(9)
        tensor = torch.tensor(scores, requires_grad=True)
        self.assertEqual(ocdm.metrics.averages(tensor, torch.tensor(targets)), ocdm.metrics.averages(scores, targets))


if __name__ == "__main__":
    tap.main()
