"""A linear model with Adam in NumPy, as `--model linear` is, inside ocdm.Run.

    python3 numpy_linear.py STREAM FOLDER KILL_AFTER [NAME=VALUE...]     dies after KILL_AFTER steps of this process; 0: never
"""
import os
import signal
import sys

import numpy as np

import ocdm


class Linear:
    """Weights of zeros; binary cross entropy, the mean over batch and classes, unknown labels being 0; epsilon of Adam outside the root."""

    def __init__(self, width, classes, rate=0.006, epsilon=1e-4):
        self.shape, self.rate, self.epsilon = (width + 1, classes), rate, epsilon
        self.state = np.zeros((3, *self.shape), np.float32)  # weights with the bias, Adam's mean, Adam's square
        self.step = 0

    def scores(self, x):
        return x @ self.state[0, :-1] + self.state[0, -1]

    def gradient(self, x, y, known):
        error = known * (1 / (1 + np.exp(-self.scores(x))) - y) / y.size
        return np.concatenate([x.T @ error, error.sum(0)[None]]).astype(np.float32)

    def train(self, x, y, known):
        z, gradient = self.scores(x), self.gradient(x, y, known)
        weights, mean, square = self.state
        self.step += 1
        mean += 0.1 * (gradient - mean)
        square += 0.001 * (gradient * gradient - square)
        weights -= self.rate * (mean / (1 - 0.9**self.step)) / (np.sqrt(square / (1 - 0.999**self.step)) + self.epsilon)
        return float(np.mean(known * (np.maximum(z, 0) - z * y + np.log1p(np.exp(-np.abs(z))))))

    def save(self):
        return self.step.to_bytes(8, "little") + self.state.tobytes()

    def load(self, data):
        self.step = int.from_bytes(data[:8], "little")
        self.state = np.frombuffer(data[8:], np.float32).reshape(3, *self.shape).copy()


def learn(stream, folder, kill_after=0, **settings):
    """Makes the run, or the rest of it, and returns the scores of the last evaluation; None if there was none."""
    model = Linear(stream.features.shape[1], stream.class_count)
    gradient = lambda samples: model.gradient(stream.features[samples], stream.targets(samples), stream.known(samples))
    scores = None
    with ocdm.Run(stream, folder, name="numpy-linear", gradient=gradient, gradient_size=model.state[0].size, **settings) as run:
        if run.saved is not None:
            model.load(run.saved)
        for count, step in enumerate(run, 1):
            step.done(model.train(stream.features[step.samples], step.targets, step.known))
            if step.evaluate:
                scores = model.scores(stream.features[run.test_samples])
                run.evaluate(scores)
            if step.checkpoint:
                run.checkpoint(model.save())
            if count == kill_after:
                os.kill(os.getpid(), signal.SIGKILL)
    return scores


if __name__ == "__main__":
    learn(ocdm.Stream(sys.argv[1]), sys.argv[2], int(sys.argv[3]), **dict(word.split("=") for word in sys.argv[4:]))
