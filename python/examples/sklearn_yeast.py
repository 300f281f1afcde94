"""Online learning with scikit-learn on Mulan's yeast: ten new samples a step, and ten from a balanced memory.

    python3 sklearn_yeast.py yeast-train.arff [yeast-test.arff]

The last 14 attributes are the labels. Without a file for tests, every fifth sample is one. It prints micro and macro F1.
"""
import sys

import numpy as np
from numpy.typing import NDArray

import ocdm

try:
    from sklearn.linear_model import SGDClassifier
    from sklearn.metrics import f1_score
except ImportError as error:
    sys.exit(f"error: this example needs scikit-learn ({error})\nhint: apt install python3-sklearn")

LABELS = 14


def read_arff(path: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Features and labels of a dense ARFF file."""
    try:
        with open(path) as file:
            lines = [line.strip() for line in file]
    except OSError as error:
        sys.exit(f"error: {path}: {error.strerror}\nhint: yeast is one of the data sets that Mulan offers, in ARFF")
    attributes = sum(line.lower().startswith("@attribute") for line in lines)
    rows = [line.split(",") for line in lines if line and line[0] not in "@%"]
    if attributes <= LABELS or not rows or any(len(row) != attributes for row in rows):
        sys.exit(f"error: {path}: not a dense ARFF file with {LABELS} labels at its end")
    table = np.array(rows, float)
    return table[:, :-LABELS], table[:, -LABELS:].astype(int)


def fit(models: list[SGDClassifier], samples: NDArray[np.float64], labels: NDArray[np.int64]) -> None:
    for label, model in enumerate(models):
        model.partial_fit(samples, labels[:, label], classes=[0, 1])


def main(paths: list[str]) -> None:
    samples, labels = read_arff(paths[0])
    if len(paths) > 1:
        test, test_labels = read_arff(paths[1])
    else:
        held = np.arange(len(samples)) % 5 == 0
        test, test_labels, samples, labels = samples[held], labels[held], samples[~held], labels[~held]
    models = [SGDClassifier(loss="log_loss", random_state=0) for _ in range(LABELS)]
    replay = ocdm.Replay(200, seed=0)
    for first in range(0, len(samples), 10):
        new, known = samples[first:first + 10], labels[first:first + 10]
        if len(replay):
            old, old_labels = replay.sample(10)
            fit(models, np.concatenate([new, old]), np.concatenate([known, old_labels]))
        else:
            fit(models, new, known)
        replay.partial_fit(new, known)
    predicted = np.stack([model.predict(test) for model in models], axis=1)
    print(f"{len(samples)} samples; micro F1 {f1_score(test_labels, predicted, average='micro'):.3f}, "
          f"macro F1 {f1_score(test_labels, predicted, average='macro', zero_division=0):.3f}")
    print("samples per label in memory:", replay.memory.counts["kept"].tolist())


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(sys.argv[1:])
