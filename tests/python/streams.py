"""Streams for the tests, built by the program in a folder of their own, which is the working directory of the test."""
import json
import os
import shutil
import subprocess
import tempfile

import numpy as np

PROGRAM = os.environ["OCDM_PROGRAM"]
TASKS, TRAIN, TEST, WIDTH, CLASSES = 3, 47, 20, 8, 6


def ocdm_program(*words, **options):
    """Runs the program; without LD_PRELOAD, since it brings its sanitizers itself."""
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    return subprocess.run([PROGRAM, *map(str, words)], env=environment, check=True, capture_output=True, text=True, **options).stdout


def enter_folder(test_class):
    """For setUpClass: a new working directory, removed afterwards."""
    folder, before = tempfile.mkdtemp(prefix="ocdm-python-"), os.getcwd()
    os.chdir(folder)
    test_class.addClassCleanup(shutil.rmtree, folder)
    test_class.addClassCleanup(os.chdir, before)


def records(images=False):
    """Samples with one to three of six labels, task by task."""
    random = np.random.default_rng(7)
    for task in range(TASKS):
        for i in range(TRAIN + TEST):
            labels = sorted({"abcdef"[c] for c in random.integers(0, 6, random.integers(1, 4))})
            record = {"id": 1000 * task + i, "labels": labels, "task": task, "split": "train" if i < TRAIN else "test"}
            if images:
                record["image"] = f"task{task}/{i}.png"
            yield record


def features(rows):
    """Noise, and a step up for each label."""
    random = np.random.default_rng(8)
    found = random.normal(0, 0.5, (len(rows), WIDTH)).astype(np.float32)
    for row, record in zip(found, rows):
        for label in record["labels"]:
            row["abcdef".index(label)] += 1
    return found


def make_small(path="small.safetensors"):
    rows = list(records())
    with open("records.jsonl", "w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    np.save("features.npy", features(rows))
    ocdm_program("stream", "build", "--records", "records.jsonl", "--features", "features.npy", "--groups", "40,20", "-o", path)
    return rows


def make_files(path="files.safetensors"):
    """Image files, which must exist, and are never decoded here."""
    rows = list(records(images=True))
    with open("files.jsonl", "w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    for row in rows:
        os.makedirs(os.path.dirname(f"pictures/{row['image']}"), exist_ok=True)
        open(f"pictures/{row['image']}", "wb").close()
    ocdm_program("stream", "build", "--records", "files.jsonl", "--images", "pictures", "-o", path)


def make_scenes(kind="features", path="scenes.safetensors"):
    size = ["--size", 16] if kind == "images" else []
    ocdm_program("stream", "build", "--recipe", "scenes", "--as", kind, *size, "-o", path)


def results(folder):
    """The summary without what depends on clock and machine."""
    with open(f"{folder}/summary.json") as file:
        summary = json.load(file)
    return {key: value for key, value in summary.items() if key not in ("times", "environment")}


def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()
