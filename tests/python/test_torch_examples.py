"""The examples run and print what they promise; where a package or file is missing they say so."""
import json
import os
import pathlib
import random
import socket
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

    def test_resumed_loop_ends_as_an_unbroken_one(self):
        with tempfile.TemporaryDirectory() as folder:
            whole = run("resumed_loop.py", f"{folder}/whole.pt", "350").stdout
            self.assertEqual(run("resumed_loop.py", f"{folder}/broken.pt", "230").returncode, 0)  # saved at 200
            self.assertEqual(run("resumed_loop.py", f"{folder}/broken.pt", "350").stdout, whole)
            self.assertIn("sum of weights", whole)

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

    def test_ddp_keeps_one_memory_in_two_processes(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        places = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": "2"}
        children = [subprocess.Popen(["/usr/bin/python3", EXAMPLES / "ddp.py", "60"], env={**os.environ, **places, "RANK": str(rank)},
                                     stdout=subprocess.PIPE, text=True) for rank in range(2)]
        first, second = (child.communicate()[0] for child in children)
        self.assertEqual([child.returncode for child in children], [0, 0])
        self.assertEqual(first.split("kept")[1], second.split("kept")[1])
        here = [int(text.split("in all, ")[1].split()[0]) for text in (first, second)]
        self.assertEqual(sum(here), 200)
        self.assertLessEqual(len((EXAMPLES / "ddp.py").read_text().splitlines()), 40)

    def test_dask_samples_shards_as_the_program_does(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            self.addCleanup(os.chdir, "/")
            chance, kept = random.Random(3), []
            for shard in range(3):
                with open(f"{shard}.jsonl", "w") as file:
                    for i in range(150):
                        labels = sorted({f"c{int(7 * chance.random() ** 2)}" for _ in range(2)})
                        file.write(json.dumps({"id": 1000 * shard + i, "labels": labels}) + "\n")
                streams.ocdm_program("sample", "-q", "-m", 40, "-b", 1, "--shard", shard, "--summary", f"{shard}.json", "-o", f"{shard}.kept", f"{shard}.jsonl")
            for line in streams.ocdm_program("merge", "-q", "-m", 40, *(f"{shard}.kept" for shard in range(3)), "--summary",
                                             *(f"{shard}.json" for shard in range(3))).splitlines():
                kept.append(json.loads(line)["id"])
            done = run("dask_shards.py", "40", *(f"{shard}.jsonl" for shard in range(3)))
            self.assertEqual([int(line) for line in done.stdout.split()], sorted(kept), done.stderr)

    def test_callbacks_add_replayed_samples_to_batches(self):
        """Their packages are not in Debian: the calls that they make are made here."""
        import importlib.util

        import torch

        import ocdm
        made = {}
        for name in ("lightning_replay", "trainer_replay"):
            spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
            spec.loader.exec_module(module := importlib.util.module_from_spec(spec))
            made[name] = module
        callback = made["lightning_replay"].BalancedReplay(ocdm.Replay(30), samples=4)
        for step in range(3):
            batch = [torch.full((5, 2), float(step)), torch.arange(5) % 3]
            callback.on_train_batch_start(None, None, batch, step)
            self.assertEqual([len(part) for part in batch], [5 + 4 * (step > 0)] * 2)
        self.assertEqual(callback.replay.memory.arrived, 15)
        again = made["lightning_replay"].BalancedReplay(ocdm.Replay(30))
        again.load_state_dict(callback.state_dict())
        self.assertEqual(again.replay.memory, callback.replay.memory)
        collator = made["trainer_replay"].BalancedCollator(ocdm.Replay(30), torch.utils.data.default_collate, samples=3)
        for step in range(2):
            batch = collator([{"input_ids": torch.arange(6), "labels": torch.tensor([1.0, 0.0, 1.0])}] * 4)
            self.assertEqual({name: len(part) for name, part in batch.items()}, {"input_ids": 4 + 3 * step, "labels": 4 + 3 * step})

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
