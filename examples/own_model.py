# %% [markdown]
# # A model of your own in the paper's protocol
#
# A linear model in NumPy learns the built-in stream of painted scenes (44 classes in four tasks) online: ten new samples at a step, ten from
# the memory, tests after each task. `ocdm.Run` keeps memory, order, evaluation, log and checkpoints; the model is yours. Two memories
# are compared. Needs NumPy, ocdm and the program `ocdm` on the path (or in OCDM_PROGRAM); runs in a minute. It writes
# own_model/report.html.

# %%
import os
import subprocess

import numpy as np

import ocdm

PROGRAM = os.environ.get("OCDM_PROGRAM", "ocdm")
STREAM = "own_model/scenes.safetensors"
os.makedirs("own_model", exist_ok=True)
if not os.path.exists(STREAM):
    subprocess.run([PROGRAM, "stream", "build", "--recipe", "scenes", "--as", "features", "-q", "-o", STREAM], check=True)


# %%
class Linear:
    """Logistic regression for each class, with Adam."""

    def __init__(self, width, classes, rate=0.006):
        self.rate, self.step = rate, 0
        self.weights, self.mean, self.square = np.zeros((3, width + 1, classes), np.float32)

    def scores(self, x):
        return x @ self.weights[:-1] + self.weights[-1]

    def train(self, x, targets):
        scores = self.scores(x)
        error = (1 / (1 + np.exp(-scores)) - targets) / targets.size
        gradient = np.vstack([x.T @ error, error.sum(0)])
        self.step += 1
        self.mean += 0.1 * (gradient - self.mean)
        self.square += 0.001 * (gradient**2 - self.square)
        self.weights -= self.rate * (self.mean / (1 - 0.9**self.step)) / (np.sqrt(self.square / (1 - 0.999**self.step)) + 1e-4)
        return float(np.mean(np.logaddexp(0, scores) - scores * targets))


def learn(method):
    stream = ocdm.Stream(STREAM)
    model = Linear(stream.features.shape[1], stream.class_count)
    with ocdm.Run(stream, f"own_model/runs/{method}", name="my-linear", method=method, memory=500) as run:
        for step in run:
            step.done(model.train(stream.features[step.samples], step.targets))
            if step.evaluate:
                run.evaluate(model.scores(stream.features[run.test_samples]))


# %%
for method in ("ocdm", "rs"):
    learn(method)

# %% [markdown]
# The picture: the page that `ocdm report` makes of any runs, these two beside each other.

# %%
subprocess.run([PROGRAM, "report", "own_model/runs", "-o", "own_model/report.html"], check=True)
