"""The examples run and print what they promise; where a package or file is missing they say so."""
import os
import pathlib
import random
import subprocess
import tempfile
import unittest

import streams
import tap

EXAMPLES = pathlib.Path(os.environ["OCDM_SOURCE"]) / "python/examples"


def run(name, *arguments):
    return subprocess.run(["/usr/bin/python3", EXAMPLES / name, *arguments], capture_output=True, text=True)


class Examples(unittest.TestCase):
    def test_plain_loop_shows_a_balanced_memory(self):
        done = run("plain_loop.py", "60")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()], ["ocdm", "rs"])

    def test_mammoth_er_runs_without_mammoth_and_refuses_another_folder(self):
        self.assertIn("ocdm.mammoth.Buffer", run("mammoth_er.py").stdout)
        done = run("mammoth_er.py", "/")
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: / is no checkout of Mammoth", done.stderr)

    def test_avalanche_replay_says_what_it_needs(self):
        done = run("avalanche_replay.py")
        self.assertEqual(done.returncode, 1)
        self.assertIn("hint: pip install avalanche-lib", done.stderr)

    def test_own_model_ends_near_the_built_in_one_with_the_same_memory(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            self.addCleanup(os.chdir, "/")
            streams.make_scenes()
            settings = "memory=300", "batch=50", "replay=50", "seed=2"
            done = run("own_model.py", "scenes.safetensors", "torch", *settings)
            self.assertEqual(done.returncode, 0, done.stderr)
            streams.ocdm_program("run", "scenes.safetensors", "-o", "linear", "--lr", 0.006, "-q",
                                 *("--" + word for word in settings))
            self.assertEqual(streams.bytes_of("torch/memory.jsonl"), streams.bytes_of("linear/memory.jsonl"))
            maps = [streams.results(name)["final"]["total"]["mAP"] for name in ("torch", "linear")]
            self.assertAlmostEqual(*maps, delta=0.5)
            self.assertEqual(run("own_model.py", "scenes.safetensors", "torch", *settings).returncode, 0)  # finished already

    def test_sklearn_yeast_learns_from_an_arff_file(self):
        chance = random.Random(0)
        with open("made.arff", "w") as file:
            file.write("@relation made\n" + "".join(f"@attribute a{i} numeric\n" for i in range(4)))
            file.write("".join(f"@attribute Class{i} {{0,1}}\n" for i in range(14)) + "@data\n")
            for _ in range(120):
                labels = [int(chance.random() < 0.3) for _ in range(14)]
                features = [chance.gauss(2 * labels[i], 0.5) for i in range(4)]
                file.write(",".join(map(str, features + labels)) + "\n")
        done = run("sklearn_yeast.py", "made.arff")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("96 samples; micro F1", done.stdout)
        for path in ("missing.arff", __file__):
            done = run("sklearn_yeast.py", path)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"error: {path}", done.stderr)


if __name__ == "__main__":
    tap.main()
