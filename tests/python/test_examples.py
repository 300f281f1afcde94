"""The scripts of examples/ run as they are and leave their picture."""
import os
import pathlib
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

import tap

SOURCE = pathlib.Path(os.environ["OCDM_SOURCE"])
# As users run them: with the package and the program that they get, and no sanitizer.
PLAIN = {key: value for key, value in os.environ.items() if key not in ("LD_PRELOAD", "PYTHONMALLOC")}
PLAIN["PYTHONPATH"] = os.environ["OCDM_RELEASE"]


class Examples(unittest.TestCase):
    def run_example(self, name, picture):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(["/usr/bin/python3", SOURCE / f"examples/{name}.py"], cwd=folder, env=PLAIN, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return done.stdout, pathlib.Path(folder, picture).read_text()

    def test_balanced_memory_has_a_bar_for_each_class_of_both_memories(self):
        said, page = self.run_example("balanced_memory", "balanced_memory.html")
        self.assertTrue(">ocdm<" in page and ">rs<" in page)
        distances = [float(line.split("shares ")[1].split(",")[0]) for line in said.splitlines()]
        self.assertLess(distances[0], 0.01)
        self.assertGreater(distances[1], 10 * distances[0])

    def test_stratified_split_draws_a_dot_for_each_label_of_both_splits(self):
        _, picture = self.run_example("stratified_split", "stratified_split.svg")
        root = xml.etree.ElementTree.fromstring(picture)
        self.assertEqual(len(root.findall("{http://www.w3.org/2000/svg}circle")), 60)

    def test_own_model_ends_with_a_report_of_both_runs(self):
        _, page = self.run_example("own_model", "own_model/report.html")
        self.assertIn("my-linear", page)


if __name__ == "__main__":
    tap.main()
