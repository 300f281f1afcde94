"""Random features and class-balanced weights of `--model ridge` against NumPy, which adds and solves the same sums in f64."""
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

import numpy as np

import ocdm
import tap

PROGRAM = os.environ["OCDM_PROGRAM"]
STREAM = pathlib.Path(os.environ["OCDM_SOURCE"], "tests/golden/0.1/stream.safetensors")
PLAIN = {key: value for key, value in os.environ.items() if key not in ("LD_PRELOAD", "PYTHONMALLOC")}


def run(*words):
    done = subprocess.run([PROGRAM, *map(str, words)], env=PLAIN, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def tensors(path):
    data = pathlib.Path(path).read_bytes()
    size, = struct.unpack("<Q", data[:8])
    types = {"F32": "<f4", "F64": "<f8"}
    return {name: np.frombuffer(data[8 + size + about["data_offsets"][0]:8 + size + about["data_offsets"][1]], types[about["dtype"]])
            .reshape(about["shape"]) for name, about in json.loads(data[8:8 + size]).items() if about.get("dtype") in types}


def samples():
    """Features and labels in the order of a run with seed 3."""
    stream = ocdm.Stream(STREAM)
    place = {name: i for i, name in enumerate(stream.ids)}
    lines = [json.loads(line) for line in run("stream", "export", STREAM, "--split", "train", "--seed", 3).splitlines()]
    order = np.array([place[str(line["id"])] for line in lines])
    return stream.features[order].astype(np.float64), stream.targets(order).astype(np.float64)


def balance(y):
    """omega of each sample, from the counts of the samples so far."""
    counts, weights = np.zeros(y.shape[1]), []
    for row in y:
        counts += row
        rarity = np.where(counts > 0, 1 / np.sqrt(np.maximum(counts, 1)), 0)
        weights.append((counts > 0).sum() * rarity[row > 0].mean() / rarity.sum() if row.any() else 1)
    return np.array(weights)


class Ridge(unittest.TestCase):
    def judge(self, *flags, balanced=False, projected=0):
        with tempfile.TemporaryDirectory() as folder:
            run("run", STREAM, "-o", folder, "--method", "finetune", "--model", "ridge", "--lambda", 5, "--seed", 3, "-q", *flags)
            found, sums = tensors(f"{folder}/weights.safetensors"), tensors(f"{folder}/checkpoint.safetensors")
            scores = run("eval", STREAM, "--weights", f"{folder}/weights.safetensors", "--json")
        x, y = samples()
        if projected:
            self.assertEqual(found["hidden.weight"].shape, (projected, x.shape[1]))
            self.assertLess(abs(found["hidden.weight"].mean()), 0.2)
            x = np.maximum(0, x @ found["hidden.weight"].astype(np.float64).T)
        w = balance(y) if balanced else np.ones(len(y))
        gram = (x * w[:, None]).T @ x
        np.testing.assert_allclose(sums["agent.ridge.gram"], gram[np.tril_indices(len(gram))], rtol=1e-10, atol=1e-10 * abs(gram).max())
        np.testing.assert_allclose(sums["agent.ridge.cross"].reshape(y.shape[1], -1), ((y * w[:, None]).T @ x), rtol=1e-10, atol=1e-9)
        mean_x, mean_y = w @ x / w.sum(), w @ y / w.sum()
        centred = (x - mean_x) * w[:, None]
        solution = np.linalg.solve(centred.T @ (x - mean_x) + 5 * np.eye(len(gram)), centred.T @ (y - mean_y)).T
        np.testing.assert_allclose(found["fc.weight"], solution, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(found["fc.bias"], mean_y - solution @ mean_x - 0.5, rtol=1e-5, atol=1e-6)
        self.assertIn("mAP", scores)

    def test_plain_features(self):
        self.judge()

    def test_class_balance(self):
        self.judge("--class-balance", balanced=True)

    def test_random_features(self):
        self.judge("--project", 40, projected=40)

    def test_random_features_with_class_balance(self):
        self.judge("--project", 40, "--class-balance", balanced=True, projected=40)


if __name__ == "__main__":
    tap.main()
