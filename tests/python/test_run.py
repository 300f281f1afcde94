"""The experiment around a model in Python: the memory of the built-in networks, files that go on, and what is refused."""
import json
import os
import subprocess
import sys
import unittest

import numpy as np

import numpy_linear
import ocdm
import streams
import tap

SMALL = dict(memory=30, batch=5, replay=4, log_every=3, checkpoint_every=7, seed=11)


def write_zeros(path, width, classes):
    """A weights file for `ocdm run --weights`: a linear model that starts from zeros."""
    sizes = 4 * width * classes, 4 * classes
    header = json.dumps({"fc.weight": {"dtype": "F32", "shape": [classes, width], "data_offsets": [0, sizes[0]]},
                         "fc.bias": {"dtype": "F32", "shape": [classes], "data_offsets": [sizes[0], sum(sizes)]}}).encode()
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header + bytes(sum(sizes)))


def flags(settings):
    return [word for key, value in settings.items() for word in ("--" + key.replace("_", "-"), value)]


class Scenes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        streams.enter_folder(cls)
        streams.make_scenes()
        cls.stream = ocdm.Stream("scenes.safetensors")
        write_zeros("zeros.safetensors", 128, 44)

    def test_a_linear_model_learns_as_the_built_in_one(self):
        settings = dict(memory=300, batch=50, replay=50, seed=3)
        scores = numpy_linear.learn(self.stream, "numpy", order=[0, 3, 1, 2], **settings)
        streams.ocdm_program("run", "scenes.safetensors", "-o", "built-in", "--lr", 0.006, "--order", "0,3,1,2", "-q", "--weights",
                             "zeros.safetensors", *flags(settings))
        self.assertEqual(streams.bytes_of("numpy/memory.jsonl"), streams.bytes_of("built-in/memory.jsonl"))
        ours, theirs = streams.results("numpy"), streams.results("built-in")
        self.assertEqual(ours["settings"]["order"], [0, 3, 1, 2])
        for mine, built_in in zip(ours["evaluations"], theirs["evaluations"], strict=True):
            for metric in ("mAP", "CF1", "OF1"):
                self.assertAlmostEqual(mine["total"][metric], built_in["total"][metric], delta=0.1)
            self.assertEqual([mine[key] for key in ("task", "step", "samples", "distance")],
                             [built_in[key] for key in ("task", "step", "samples", "distance")])
        self.assertGreater(ours["final"]["total"]["mAP"], 20)
        self.check_metrics(scores, ours)

    def check_metrics(self, scores, summary):
        """The metrics of the package are those of the files, bit by bit."""
        tests = np.concatenate([self.stream.select("test", task) for task in summary["settings"]["order"]])
        targets, groups = self.stream.targets(tests), {"majority": 0, "moderate": 1, "minority": 2}
        for name, value in ocdm.metrics.averages(scores, targets).items():
            self.assertEqual((1 if name == "coverage" else 100) * value, summary["final"]["total"][name])
        of_class = [groups[entry["group"]] for entry in summary["classes"]]
        for group, number in groups.items():
            for name, value in ocdm.metrics.averages(scores, targets, of_class, number).items():
                self.assertEqual((1 if name == "coverage" else 100) * value, summary["final"][group][name])
        maps = np.full((4, 4), np.nan)
        for row, evaluation in zip(maps, summary["evaluations"]):
            row[:len(evaluation["tasks"])] = [task["mAP"] for task in evaluation["tasks"]]
        self.assertAlmostEqual(ocdm.metrics.forgetting(maps)[0], summary["forgetting"]["mean"], places=9)

    def test_runs_are_shown_beside_the_built_in_ones(self):
        for seed in (0, 1):
            numpy_linear.learn(self.stream, f"shown/own-s{seed}", memory=100, batch=500, seed=seed)
            streams.ocdm_program("run", "scenes.safetensors", "-o", f"shown/linear-s{seed}", "--batch", 500, "--memory", 100, "--seed",
                                 seed, "-q")
        streams.ocdm_program("report", "shown", "-o", "report.html")
        page = streams.bytes_of("report.html").decode()
        self.assertIn("numpy-linear", page)

    def test_runs_are_compared_as_the_built_in_ones(self):
        settings = dict(memory=100, batch=500)
        for method in ("rs", "ocdm"):
            for seed in (0, 1):
                numpy_linear.learn(self.stream, f"compared/{method}-s{seed}", method=method, seed=seed, **settings)
        words = ("compare", "scenes.safetensors", "-o", "compared", "--own-model", "numpy-linear", "--seeds", 2, *flags(settings))
        rows = json.loads(streams.ocdm_program(*words, "--methods", "rs,ocdm", "--json"))
        text = streams.ocdm_program(*words, "--methods", "rs,ocdm")
        self.assertIn("model numpy-linear", " ".join(text.split()))
        mean = sum(streams.results(f"compared/ocdm-s{seed}")["final"]["total"]["mAP"] for seed in (0, 1)) / 2
        self.assertIn(f"{mean:.1f}", text)
        self.assertIn("ocdm", json.dumps(rows))
        with self.assertRaises(subprocess.CalledProcessError) as caught:
            streams.ocdm_program(*words, "--methods", "rs,prs")
        self.assertIn("compared/prs-s0: there is no finished run of the model numpy-linear", caught.exception.stderr)


class Small(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        streams.enter_folder(cls)
        streams.make_small()
        cls.stream = ocdm.Stream("small.safetensors")

    def same(self, one, other):
        self.assertEqual(streams.bytes_of(f"{one}/memory.jsonl"), streams.bytes_of(f"{other}/memory.jsonl"))
        self.assertEqual(streams.results(one), streams.results(other))

    def test_every_method_has_the_memory_of_the_built_in_networks(self):
        for method in ("ocdm", "rs", "prs", "cbes", "max", "onlyone", "random", "finetune", "multitask"):
            settings = dict(SMALL, method=method)
            numpy_linear.learn(self.stream, f"{method}-own", **settings)
            streams.ocdm_program("run", "small.safetensors", "-o", f"{method}-linear", "-q", *flags(settings))
            self.assertEqual(streams.bytes_of(f"{method}-own/memory.jsonl"), streams.bytes_of(f"{method}-linear/memory.jsonl"))

    def test_a_run_that_is_killed_goes_on_to_the_same_files(self):
        numpy_linear.learn(self.stream, "whole", **SMALL)
        words = [sys.executable, numpy_linear.__file__, "small.safetensors", "parts"]
        settings = [f"{key}={value}" for key, value in SMALL.items()]
        codes = [subprocess.run([*words, str(kill_after), *settings]).returncode for kill_after in (3, 9, 11, 8, 0)]
        self.assertEqual(codes, [-9, -9, -9, -9, 0])  # from steps 0, 0, 7 and 14; the last one has 9 left
        self.same("whole", "parts")

    def test_a_run_that_is_left_early_goes_on_to_the_same_files(self):
        class Left(Exception):
            pass

        numpy_linear.learn(self.stream, "untouched", method="gss", **SMALL)
        original, count = numpy_linear.Linear.train, 0

        def train(model, x, y, known):
            nonlocal count
            count += 1
            if count % 11 == 0:
                raise Left
            return original(model, x, y, known)

        numpy_linear.Linear.train = train
        self.addCleanup(setattr, numpy_linear.Linear, "train", original)
        interruptions = 0
        while True:
            try:
                numpy_linear.learn(self.stream, "left", method="gss", **SMALL)
                break
            except Left:
                interruptions += 1
        self.assertGreater(interruptions, 1)
        self.same("untouched", "left")

    def test_a_finished_run_is_left_alone(self):
        numpy_linear.learn(self.stream, "finished", **SMALL)
        before = streams.bytes_of("finished/run.jsonl")
        with ocdm.Run(self.stream, "finished", name="numpy-linear", **SMALL) as run:
            self.assertEqual(list(run), [])
            self.assertEqual(run.notes, ["the run is finished: nothing is left to do"])
            self.assertIsInstance(run.saved, bytes)
        self.assertTrue(run.finished)
        self.assertEqual(streams.bytes_of("finished/run.jsonl"), before)
        self.assertRaisesRegex(ValueError, "a finished run is there", ocdm.Run, self.stream, "finished", name="numpy-linear",
                               resume=False, **SMALL)

    def test_a_step_says_what_is_new_and_what_is_replayed(self):
        seen = set()
        with ocdm.Run("small.safetensors", "steps", name="nothing", **SMALL) as run:
            for step in run:
                self.assertEqual(len(step.samples), step.new_count + len(step.replayed))
                self.assertTrue(set(step.replayed.tolist()) <= seen and not set(step.new.tolist()) & seen)
                self.assertFalse(run.stream.test[step.samples].any())
                np.testing.assert_array_equal(step.targets, run.stream.targets(step.samples))
                seen |= set(step.new.tolist())
                step.done()
                if step.evaluate:
                    self.assertTrue(run.stream.test[run.test_samples].all())
                    run.evaluate(np.zeros((len(run.test_samples), 6)))
        self.assertEqual(seen, set(run.stream.select("train").tolist()))
        self.assertFalse(os.path.exists("steps/checkpoint.safetensors"))
        self.assertIsNone(streams.results("steps")["curve"]["loss"][0])

    def test_image_files_and_stored_images_are_only_numbered(self):
        streams.make_files()
        with ocdm.Run("files.safetensors", "files", name="nothing", **SMALL) as run:
            step = next(run)
            self.assertEqual([run.stream.image_paths[i].rsplit(".", 1)[1] for i in step.samples], ["png"] * 5)
            step.done(0.5)

    def test_gradients_of_a_function_decide(self):
        """gss replaces samples only by those whose gradients point elsewhere: here those of later tasks, or none."""
        stream, kept = self.stream, []
        for number, gradient in enumerate((lambda s: -1.0 if stream.tasks[s].any() else 1.0, lambda s: [1.0])):
            with ocdm.Run(stream, f"gss{number}", name="own", method="gss", gradient=gradient, gradient_size=1, **SMALL) as run:
                for step in run:
                    step.done(1)
                    if step.evaluate:
                        run.evaluate(np.zeros((len(run.test_samples), 6)))
            with open(f"gss{number}/memory.jsonl") as file:
                kept.append({json.loads(line)["task"] for line in file})
        self.assertGreater(len(kept[0]), 1)
        self.assertEqual(kept[1], {0})

    def test_errors_of_a_gradient_function_are_raised(self):
        def broken(samples):
            raise ZeroDivisionError

        def again(samples):
            run.checkpoint(b"")

        for number, (gradient, error) in enumerate([(broken, ZeroDivisionError), (lambda s: np.zeros(9), ValueError),
                                                    (again, RuntimeError)]):
            with ocdm.Run(self.stream, f"bad{number}", name="own", method="gss", gradient=gradient, gradient_size=10, **SMALL) as run:
                with self.assertRaises(error):
                    for step in run:
                        step.done(1)
        self.assertRaisesRegex(ValueError, "compares gradients", ocdm.Run, self.stream, "bad", name="own", method="gss", **SMALL)


class Refused(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        streams.enter_folder(cls)
        streams.make_small()
        cls.stream = ocdm.Stream("small.safetensors")

    def test_settings_that_make_no_sense_are_named(self):
        cases = [(dict(memmory=3), "memmory"), (dict(memory="many"), "memory"), (dict(memory=-1), "memory"), (dict(rho=20.0), "rho"),
                 (dict(tie="best"), "tie"), (dict(order=[0, 1]), "order"), (dict(order=[0, 1, 7]), "order"), (dict(model="x"), "name"),
                 (dict(method="ocmd"), "method"), (dict(memory=2), "replayed"), (dict(strict="yes"), "strict")]
        for settings, says in cases:
            with self.subTest(settings):
                self.assertRaisesRegex(ValueError, says, ocdm.Run, self.stream, "refused", name="own", **settings)
        self.assertRaisesRegex(ValueError, "a model of ocdm", ocdm.Run, self.stream, "refused", name="linear")
        self.assertRaises(ValueError, ocdm.Run, self.stream, "refused", name="")
        self.assertRaises(ValueError, ocdm.Run, self.stream, "begin\0end", name="mine")
        self.assertRaises(ValueError, ocdm.Run, self.stream, "refused", name="mine\0yours")
        self.assertFalse(os.path.exists("begin") or os.path.exists("refused"))
        self.assertRaises(TypeError, ocdm.Run, self.stream, "refused")
        self.assertRaises(OSError, ocdm.Run, "nowhere.safetensors", "refused", name="own")
        self.assertFalse(os.path.exists("refused/run.jsonl"))

    def test_a_folder_with_another_run_is_refused(self):
        with ocdm.Run(self.stream, "other", name="own", **SMALL) as run:
            next(run).done(1)
            run.checkpoint(b"state")
            with self.assertRaisesRegex(OSError, "another run is writing here"):
                ocdm.Run(self.stream, "other", name="own", **SMALL)
        self.assertRaisesRegex(ValueError, "seed", ocdm.Run, self.stream, "other", name="own", **dict(SMALL, seed=12))
        self.assertRaisesRegex(ValueError, "model", ocdm.Run, self.stream, "other", name="mine", **SMALL)
        with ocdm.Run(self.stream, "other", name="own", **SMALL) as run:
            self.assertEqual(run.saved, b"state")

    def test_calls_out_of_order_are_refused(self):
        with ocdm.Run(self.stream, "order", name="own", **SMALL) as run:
            self.assertIsNone(run.saved)
            self.assertRaisesRegex(ValueError, "no step is under way", run.evaluate, np.zeros((20, 6)))
            step = next(run)
            self.assertRaisesRegex(ValueError, "not done", next, run)
            self.assertRaisesRegex(ValueError, "not done", run.checkpoint, b"")
            self.assertRaises((TypeError, ValueError), step.done, "much")
            step.done(1)
            self.assertRaisesRegex(ValueError, "no step is under way", step.done, 1)
            later = next(run)
            self.assertRaisesRegex(ValueError, "is over", step.done, 1)
            while not later.evaluate:
                later.done(1)
                later = next(run)
            later.done(1)
            self.assertRaisesRegex(ValueError, "evaluation", next, run)
            for shape in ((19, 6), (20, 5), (120,)):
                self.assertRaisesRegex(ValueError, r"\[20, 6\]", run.evaluate, np.zeros(shape))
            self.assertRaisesRegex(ValueError, "not a finite number", run.evaluate, np.full((20, 6), np.nan))
            self.assertRaises(TypeError, run.checkpoint, "text")
            run.evaluate(np.zeros((20, 6)))
        self.assertRaisesRegex(RuntimeError, "closed", next, run)
        run.close()

    def test_a_run_that_is_dropped_releases_its_folder(self):
        run = ocdm.Run(self.stream, "dropped", name="own", gradient=lambda samples: run, gradient_size=1, **SMALL)
        next(run).done(1)
        del run
        import gc
        gc.collect()
        ocdm.Run(self.stream, "dropped", name="own", gradient=len, gradient_size=1, **SMALL).close()


def average_precision(scores, positive):
    """By definition: the mean over the positives of the precision at their rank. No two scores are equal here."""
    return np.mean([positive[scores >= score].mean() for score in scores[positive]])


class Partial(unittest.TestCase):
    """Six classes in three tasks, 3 + 2 + 1, of which only the task's are known."""
    TASK_OF = np.array([0, 0, 0, 1, 1, 2])

    @classmethod
    def setUpClass(cls):
        streams.enter_folder(cls)
        streams.make_small()
        streams.ocdm_program("stream", "build", "--records", "records.jsonl", "--features", "features.npy", "--recipe",
                             "incremental", "--base", 3, "--step", 2, "-o", "partial.safetensors")
        cls.stream = ocdm.Stream("partial.safetensors")
        write_zeros("zeros.safetensors", streams.WIDTH, 6)

    def judge(self, scores, rows, columns):
        """The mean of AP over the columns, in percent, on these tests."""
        targets = self.stream.targets(rows) > 0
        return 100 * np.mean([average_precision(scores[rows][:, c], targets[:, c]) for c in columns if targets[:, c].any()])

    def carriers(self, columns):
        tests = self.stream.select("test")
        return tests[self.stream.targets(tests)[:, columns].any(1)]

    def test_evaluations_have_the_classes_so_far(self):
        scores = np.random.default_rng(5).normal(size=(len(self.stream), 6)).astype(np.float32)
        for order in ([0, 1, 2], [2, 0, 1]):
            folder = "order" + "".join(map(str, order))
            with ocdm.Run(self.stream, folder, name="random", order=order, **SMALL) as run:
                for step in run:
                    np.testing.assert_array_equal(step.known, self.TASK_OF == self.stream.tasks[step.samples][:, None])
                    self.assertFalse((step.targets > step.known).any())
                    step.done()
                    if step.evaluate:
                        run.evaluate(scores[run.test_samples])
                    if step.checkpoint:
                        run.checkpoint(b"")
            for k, evaluation in enumerate(streams.results(folder)["evaluations"]):
                introduced = np.flatnonzero(np.isin(self.TASK_OF, order[:k + 1]))
                self.assertEqual(evaluation["total"]["classes"], len(introduced))
                self.assertAlmostEqual(evaluation["total"]["mAP"], self.judge(scores, self.carriers(introduced), introduced), 9)
                for task in evaluation["tasks"]:
                    own = np.flatnonzero(self.TASK_OF == task["task"])
                    self.assertAlmostEqual(task["mAP"], self.judge(scores, self.carriers(own), own), 9)

    def test_a_linear_model_learns_as_the_built_in_one(self):
        """The loss in NumPy leaves unknown labels out; the same samples are kept, and the same is learnt."""
        settings = dict(memory=40, batch=10, replay=10, seed=3)
        numpy_linear.learn(self.stream, "numpy", **settings)
        streams.ocdm_program("run", "partial.safetensors", "-o", "built-in", "--lr", 0.006, "-q", "--weights", "zeros.safetensors",
                             *flags(settings))
        self.assertEqual(streams.bytes_of("numpy/memory.jsonl"), streams.bytes_of("built-in/memory.jsonl"))
        ours, theirs = streams.results("numpy"), streams.results("built-in")
        for mine, built_in in zip(ours["evaluations"], theirs["evaluations"], strict=True):
            for metric in ("mAP", "CF1", "OF1"):
                self.assertAlmostEqual(mine["total"][metric], built_in["total"][metric], delta=0.1)
        for mine, built_in in zip(ours["curve"]["loss"], theirs["curve"]["loss"], strict=True):
            self.assertAlmostEqual(mine, built_in, 5)


if __name__ == "__main__":
    tap.main()
