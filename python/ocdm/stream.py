"""Stream files as arrays: the class Stream, on top of the type in C."""
import functools
import os

from . import _ocdm

_KINDS = ("labels", "features", "images", "files")
_PARTS = {"train": 0, "test": 1}


class Stream:
    """A file of `ocdm stream build`, read-only. Tables, features and images are arrays over the mapped file, not copies.

    path    the file; OSError or ValueError if it cannot be read or is damaged

    len(stream)         the number of samples; a sample is known by its number, 0 to len - 1, everywhere
    kind                what samples are made of: "features", "images" (in the file), "files" (image files), "labels" (nothing)
    features            [n, width], float32 or float16; None for other kinds
    images              [n, channels, height, width], uint8; None for other kinds
    labels              a pair (starts, labels): sample i has labels[starts[i]:starts[i + 1]], ascending numbers of classes
    tasks, test         of each sample: the number of its task; whether it is a test
    groups              of each class: 0 majority, 1 moderate, 2 minority; None when the file has none
    partial             whether some classes of some samples are not annotated: known(samples) tells which ones are
    class_names, ids    lists of strings
    image_paths         a list of paths, made of image_root and what the file says; None for other kinds
    checksum            as in the files of runs

    >>> stream = ocdm.Stream("scenes.safetensors")
    >>> stream
    <ocdm.Stream: 26617 training and 2200 test samples, 44 classes, 4 tasks, features [28817, 128]>
    >>> stream.features.flags.owndata, stream.features.flags.writeable
    (False, False)
    >>> starts, labels = stream.labels
    >>> [stream.class_names[c] for c in labels[starts[0]:starts[1]]] == stream.names_of(0)
    True
    >>> stream.targets([0, 1]).shape
    (2, 44)
    """

    def __init__(self, path):
        # The arrays refer to the file, not to this object, which keeps them: a cycle through them could not be collected.
        self._path = os.fspath(path)
        self._file = _ocdm.StreamFile(self._path)
        self._found = self._file.tables()

    @property
    def path(self):
        """As it was given."""
        return self._path

    @property
    def kind(self):
        """What samples are made of: "features", "images", "files" or "labels"."""
        return _KINDS[self._found["kind"]]

    @property
    def class_count(self):
        """How many classes there are."""
        return self._found["classes"]

    @property
    def task_count(self):
        """How many different tasks there are; their numbers may have gaps."""
        return self._found["tasks"]

    @property
    def checksum(self):
        """Of the stream, as in the files of runs."""
        return self._found["checksum"]

    @property
    def image_root(self):
        """The folder of the image files, or None when the file does not say."""
        return self._found["image_root"]

    def _array(self, table, dtype, *shape):
        import numpy

        view = self._found[table]
        return None if view is None else numpy.frombuffer(view, dtype).reshape(*(shape or (-1,)))

    @functools.cached_property
    def labels(self):
        """(starts, labels): sample i has labels[starts[i]:starts[i + 1]]."""
        return self._array("label_starts", "u8").view("i8"), self._array("labels", "u4")

    @functools.cached_property
    def tasks(self):
        """The number of the task of each sample."""
        return self._array("task", "u4")

    @functools.cached_property
    def test(self):
        """Whether each sample is a test."""
        return self._array("test", "bool")

    @functools.cached_property
    def groups(self):
        """Of each class: 0 majority, 1 moderate, 2 minority; None when the file has none."""
        return self._array("group", "u1")

    @property
    def partial(self):
        """Whether some classes of some samples are not annotated."""
        return self._found["known"] is not None

    def known(self, samples):
        """Which classes of some samples are annotated: bool, [len(samples), classes]; a loss leaves the others out. IndexError."""
        import numpy

        samples = self._numbers(samples)
        if not self.partial:
            return numpy.ones((len(samples), self.class_count), bool)
        rows = self._array("known", "u1", len(self), -1)[samples]
        return numpy.unpackbits(rows, axis=1, count=self.class_count, bitorder="little").view(bool)

    def _numbers(self, samples):
        import numpy

        samples = numpy.ascontiguousarray(samples, "int64")
        if samples.ndim != 1:
            raise ValueError(f"samples must be a list of numbers, not an array of shape {samples.shape}")
        if len(samples) and (samples.min() < 0 or samples.max() >= len(self)):
            raise IndexError(f"samples are numbers from 0 to {len(self) - 1}")
        return samples

    @functools.cached_property
    def features(self):
        """[n, width], float32 or float16; None for other kinds."""
        if self.kind != "features":
            return None
        return self._array("data", f"<f{self._found['element_bytes']}", len(self), self._found["width"])

    @functools.cached_property
    def images(self):
        """[n, channels, height, width], uint8; None for other kinds."""
        found = self._found
        if self.kind != "images":
            return None
        return self._array("data", "u1", len(self), found["channels"], found["height"], found["width"])

    @functools.cached_property
    def class_names(self):
        """The names of the classes."""
        return self._file.class_names()

    @functools.cached_property
    def ids(self):
        """The ids of the samples."""
        return self._file.ids()

    @functools.cached_property
    def image_paths(self):
        """The path of the image file of each sample; None for other kinds."""
        if self.kind != "files":
            return None
        root = self.image_root
        return [os.path.join(root, path) if root is not None else path for path in self._file.image_paths()]

    def names_of(self, sample):
        """The names of the labels of a sample."""
        starts, labels = self.labels
        return [self.class_names[c] for c in labels[starts[sample]:starts[sample + 1]]]

    def targets(self, samples):
        """The labels of some samples as rows of 0 and 1: float32, [len(samples), classes]. IndexError."""
        import numpy

        samples = self._numbers(samples)
        return numpy.frombuffer(self._file.targets(samples), "f4").reshape(len(samples), self.class_count)

    def select(self, part=None, task=None):
        """The numbers of the samples of a part, "train" or "test", and of a task; None for all.

        >>> stream = ocdm.Stream("scenes.safetensors")
        >>> len(stream.select("test")), len(stream.select("test", task=0))
        (2200, 700)
        """
        import numpy

        if part is not None and part not in _PARTS:
            raise ValueError(f'a part is "train" or "test", not {part!r}')
        chosen = numpy.ones(len(self), bool)
        if part is not None:
            chosen &= self.test == bool(_PARTS[part])
        if task is not None:
            chosen &= self.tasks == task
        return numpy.flatnonzero(chosen)

    def verify(self):
        """Reads all features or images and compares their checksum, which opening does not. ValueError if they are damaged."""
        self._file.verify()

    def __len__(self):
        return self._found["samples"]

    def __reduce__(self):
        return type(self), (self._path,)

    def __repr__(self):
        tests = int(self.test.sum())
        shape = {"features": self.features, "images": self.images}.get(self.kind)
        made_of = self.kind if shape is None else f"{self.kind} {list(shape.shape)}"
        return (f"<ocdm.Stream: {len(self) - tests} training and {tests} test samples, {self.class_count} classes, "
                f"{self.task_count} tasks, {made_of}>")
