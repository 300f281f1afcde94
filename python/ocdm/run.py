"""The experiment around a model of your own: the class Run."""
import os

from . import _ocdm
from .stream import Stream


def _text(value):
    """A setting as a user of `ocdm run` would type it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if hasattr(value, "__iter__"):
        return ",".join(_text(item) for item in value)
    if hasattr(value, "__index__"):
        return str(value.__index__())
    return repr(float(value))


def _scores(scores, count, classes):
    import numpy

    if hasattr(scores, "detach"):  # a tensor of PyTorch, on any device
        scores = scores.detach().cpu()
    scores = numpy.require(scores, "float32", "CA")
    if scores.shape != (count, classes):
        raise ValueError(f"scores must have the shape [{count}, {classes}]: test samples and classes, not {list(scores.shape)}")
    return scores


class Step:
    """A step of a run: what to train on, and what is due afterwards.

    number       from 1
    samples      numbers of samples of the stream: the new ones, then those that are replayed
    new_count    how many are new
    targets      their labels, [len(samples), classes] of 0 and 1, float32
    known        which of these are annotated, [len(samples), classes], bool; a loss should leave the others out
    evaluate     whether an evaluation is due after the step
    checkpoint   whether a checkpoint is due after the step and its evaluation
    task         the task of the new samples, for messages; a method should not use it
    update       from 1 to the setting steps_per_batch: steps of one number have the same new samples
    """

    __slots__ = ("_run", "number", "task", "samples", "new_count", "evaluate", "checkpoint", "update")

    def __init__(self, run, number, task, samples, new_count, evaluate, checkpoint, update):
        self._run = run
        self.number, self.task, self.samples, self.new_count = number, task, samples, new_count
        self.evaluate, self.checkpoint, self.update = evaluate, checkpoint, update

    @property
    def targets(self):
        """The labels of the samples: float32, [len(samples), classes] of 0 and 1."""
        return self._run.stream.targets(self.samples)

    @property
    def known(self):
        """Which labels of the samples are annotated: bool, [len(samples), classes]; all True unless the stream is partial."""
        return self._run.stream.known(self.samples)

    @property
    def new(self):
        """The new samples."""
        return self.samples[:self.new_count]

    @property
    def replayed(self):
        """The samples from the memory."""
        return self.samples[self.new_count:]

    def done(self, loss=None):
        """Ends the step: the memory is updated with the new samples, after the last update of a number. The loss, if there is one, goes into the log."""
        self._run._done(self, float("nan") if loss is None else float(loss))

    def __repr__(self):
        return f"<ocdm.Step {self.number}: {self.new_count} new samples, {len(self.samples) - self.new_count} replayed>"


class Run:
    """The online experiment of `ocdm run` around your own model: same shuffles, draws, memory, metrics and files.

    stream          an ocdm.Stream, or the path of one
    folder          for the files of the run; `ocdm report`, `ocdm watch` and `ocdm compare` read them
    name            of the model, in files and tables; none of the built-in ones
    resume          continue the run in the folder, if there is one; False: such a folder is refused
    gradient        for method="gss": a function that takes an array of samples and returns the gradient of their mean loss;
                    it must not change the model
    gradient_size   the number of elements of the gradient
    settings        those of `ocdm run`, with the same defaults: method, memory, batch, replay, rho, distance, tie, seed, order,
                    groups, epochs, log_every, checkpoint_every and so on. Those of the built-in networks, such as lr, are only
                    written into the files.

    >>> import numpy as np
    >>> stream = ocdm.Stream("scenes.safetensors")
    >>> weights = np.zeros((128, 44), np.float32)
    >>> with ocdm.Run(stream, "runs/perceptron", memory=200, batch=100, name="perceptron") as run:
    ...     if run.saved is not None:                       # the run goes on after an interruption
    ...         weights = np.frombuffer(run.saved, np.float32).reshape(128, 44).copy()
    ...     for step in run:
    ...         x, y = stream.features[step.samples], step.targets
    ...         error = y - (x @ weights > 0)
    ...         weights += 0.01 * x.T @ error
    ...         step.done(loss=np.abs(error).mean())
    ...         if step.evaluate:
    ...             run.evaluate(stream.features[run.test_samples] @ weights)
    ...         if step.checkpoint:
    ...             run.checkpoint(weights.tobytes())
    >>> run.finished
    True

    The order is fixed: a step is done, then evaluated if that is due, then a checkpoint may be written, then comes the next step.
    A run that is left early, or killed, goes on from its last checkpoint when it is made again with the same settings; it ends with
    the same files as one that was never interrupted, if the model depends on nothing but the saved bytes and the steps.
    """

    def __init__(self, stream, folder, *, name, resume=True, gradient=None, gradient_size=0, **settings):
        self.stream = stream if isinstance(stream, Stream) else Stream(stream)
        self.folder = os.fspath(folder)
        self.name = name
        self.finished = False
        texts = [os.fsencode(self.folder), str(name).encode()]
        for key, value in settings.items():
            if value is not None:
                texts += [key.encode(), os.fsencode(_text(value))]
        call = None if gradient is None else _flat(gradient)
        self._loop = _ocdm.Loop(self.stream._file, texts, resume, call, gradient_size)
        self._step = None

    @property
    def saved(self):
        """The bytes of the checkpoint that the run goes on from; None for a run that begins."""
        return self._loop.saved()

    @property
    def notes(self):
        """What a user should know about the folder, as `ocdm run` prints it: a list of lines."""
        return self._loop.notes()

    @property
    def test_samples(self):
        """The samples that an evaluation needs now: the tests of all tasks so far, or a part of them with eval_every."""
        return self._loop.tests()

    def __iter__(self):
        return self

    def __next__(self):
        found = self._loop.next()
        if found is None:
            self.finished = True
            raise StopIteration
        self._step = Step(self, *found)
        return self._step

    def _done(self, step, loss):
        if step is not self._step:
            raise ValueError(f"step {step.number} is over")
        self._loop.done(loss)

    def evaluate(self, scores):
        """Evaluates by scores of the `test_samples`: [len(test_samples), classes], positive where a class is predicted."""
        self._loop.evaluate(_scores(scores, len(self.test_samples), self.stream.class_count))

    def checkpoint(self, data):
        """Writes a checkpoint with the state of the model, any bytes. The one before it is kept until the new one is whole."""
        self._loop.checkpoint(data)

    def close(self):
        """Closes the files and releases the folder. What was done since the last checkpoint is lost, unless the run is finished."""
        self._loop.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __repr__(self):
        return f"<ocdm.Run: {self.name} in {self.folder}{', finished' if self.finished else ''}>"


def _flat(gradient):
    """Calls it, and makes one row of floats of what it returns: an array, a tensor, or a list of either."""
    def call(samples):
        import numpy

        made = gradient(samples)
        parts = made if isinstance(made, (list, tuple)) else [made]
        flat = [numpy.asarray(part.detach().cpu() if hasattr(part, "detach") else part, "float32").ravel() for part in parts]
        return flat[0] if len(flat) == 1 and flat[0].flags.c_contiguous else numpy.concatenate(flat)
    return call
