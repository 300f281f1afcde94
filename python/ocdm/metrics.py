"""Metrics of multi-label classification on arrays: those of the tables of `ocdm run`, computed by the same functions.

scores are [samples, classes], positive where a class is predicted. labels are [samples, classes] of 0 and 1, lists of numbers of
classes, or a CSR pair (starts, labels). Values are fractions from 0 to 1, except the coverage, which is a number of classes; NaN
when no class has a positive sample. A class without a positive sample is left out of every average.

>>> import numpy as np
>>> scores = np.array([[1.5, -1, 2], [-0.5, 3, 0.1], [2, -2, -3]], np.float32)
>>> labels = [[0, 2], [1], [0]]
>>> round(ocdm.metrics.CF1(scores, labels), 4), round(ocdm.metrics.mAP(scores, labels), 4)
(0.9091, 1.0)
>>> averages = ocdm.metrics.averages(scores, labels)
>>> round(averages["OP"], 4), averages["AUC"], averages["coverage"]
(0.8, 1.0, 1.3333333333333333)
"""
from . import _ocdm

NAMES = tuple(_ocdm.metric_names())  #: CF1, OF1, mAP, CP, CR, CF1_macro, OP, OR, AUC, ranking_loss, coverage, hamming, one_error, ECE
_SCORE = [("positives", "u4"), ("predicted", "u4"), ("hits", "u4"), ("samples", "u4"), ("ap", "f8"), ("auc", "f8"), ("ece", "f8")]


def _rows(scores):
    import numpy

    if hasattr(scores, "detach"):
        scores = scores.detach().cpu()
    scores = numpy.require(scores, "float32", "CA")
    if scores.ndim != 2:
        raise ValueError(f"scores must have the shape [samples, classes], not {list(scores.shape)}")
    return scores


def class_scores(scores, labels, threshold=0.0):
    """Each class alone: a structured array of positives, predicted (scores over the threshold), hits (both), samples, ap (its average precision), auc (the area
    under its ROC curve) and ece (its expected calibration error).

    >>> ocdm.metrics.class_scores([[1.0, -1], [2, 3]], [[0], [0, 1]])[["positives", "predicted", "hits", "ap"]].tolist()
    [(2, 2, 2, 1.0), (1, 1, 1, 1.0)]
    """
    import numpy

    scores = _rows(scores)
    return numpy.frombuffer(_ocdm.score_classes(scores, *scores.shape, labels, threshold), _SCORE)


def _groups(groups, classes):
    import numpy

    groups = numpy.asarray(groups)
    if groups.shape != (classes,) or groups.dtype.kind not in "iub" or (groups < 0).any() or (groups > 255).any():
        raise ValueError(f"groups must be {classes} numbers from 0 to 255, one for each class")
    return numpy.ascontiguousarray(groups, "uint8")


def averages(scores, labels, groups=None, group=None, threshold=0.0):
    """All averages, by name. With groups, a number for each class, over the classes whose number is `group`. A class is predicted
    where its score is over the threshold: 0 for logits, or what `best_threshold` found on other samples. Equal to scikit-learn's
    where it has them: AUC is its macro roc_auc_score, ranking_loss its label_ranking_loss, coverage its coverage_error, hamming its
    hamming_loss of the decisions scores > threshold.

    >>> stream = ocdm.Stream("scenes.safetensors")
    >>> tests = stream.select("test")
    >>> found = ocdm.metrics.averages(stream.targets(tests) - 0.5, stream.targets(tests))
    >>> found["CF1"], found["mAP"]
    (1.0, 1.0)
    """
    scores = _rows(scores)
    if (groups is None) != (group is None):
        raise ValueError("groups and group belong together: a number for each class, and the one that is wanted")
    groups = None if groups is None else _groups(groups, scores.shape[1])
    return dict(zip(NAMES, _ocdm.measure(scores, *scores.shape, labels, threshold, groups, group or 0)))


def CF1(scores, labels, groups=None, group=None, threshold=0.0):
    """2 CP CR / (CP + CR) of the mean precision CP and the mean recall CR of the classes."""
    return averages(scores, labels, groups, group, threshold)["CF1"]


def OF1(scores, labels, groups=None, group=None, threshold=0.0):
    """F1 of all predictions together."""
    return averages(scores, labels, groups, group, threshold)["OF1"]


def best_threshold(scores, labels):
    """The threshold for all classes together with the greatest CF1 on these samples. Find it on samples that are held out, and use it
    on the tests: 0 misleads for scores that are not probabilities, as those of ridge regression and focal losses. NaN when no class
    has a positive sample.

    >>> import numpy as np
    >>> scores = np.array([[3, -1], [1, -2], [0.5, -3], [0, -4]], np.float32)
    >>> threshold = ocdm.metrics.best_threshold(scores, [[0], [], [0], []])
    >>> threshold, round(ocdm.metrics.CF1(scores, [[0], [], [0], []], threshold=threshold), 4)
    (0.25, 0.8)
    """
    scores = _rows(scores)
    return _ocdm.best_threshold(scores, *scores.shape, labels)


def mAP(scores, labels, groups=None, group=None):
    """The mean of the average precisions of the classes."""
    return averages(scores, labels, groups, group)["mAP"]


def AP(scores, positive):
    """The average precision of one class, as scikit-learn's average_precision_score; NaN without a positive sample.

    >>> round(ocdm.metrics.AP([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1]), 4)
    0.8333
    """
    import numpy

    positive = numpy.ascontiguousarray(numpy.asarray(positive) != 0, "uint8")
    scores = numpy.require(scores, "float32", "CA")
    if scores.ndim != 1 or positive.shape != scores.shape:
        raise ValueError(f"scores and positive must be rows of the same length, not {scores.shape} and {positive.shape}")
    return _ocdm.average_precision(scores, positive)


def _maps(maps):
    import numpy

    maps = numpy.require(maps, "float64", "CA")
    if maps.ndim != 2:
        raise ValueError(f"maps must have the shape [evaluations, tasks], not {list(maps.shape)}")
    return maps


def forgetting(maps):
    """How much each task is forgotten: its best earlier mAP minus the final one. maps are [evaluations, tasks], NaN before a task
    was seen. Returns the mean, and an array with a value for each task, NaN for those that have none.

    >>> nan = float("nan")
    >>> mean, each = ocdm.metrics.forgetting([[0.8, nan], [0.6, 0.7]])
    >>> round(mean, 4), each.round(4).tolist()
    (0.2, [0.2, nan])
    """
    import numpy

    maps = _maps(maps)
    mean, each = _ocdm.forgetting(maps, *maps.shape)
    return mean, numpy.frombuffer(each, "float64")


def transfer(maps, ahead=None, fresh=None):
    """Backward and forward transfer. Backward: what later training adds to a task, the final value minus the first one in its
    column, mean over the tasks but the last. Forward: what earlier training gives a task, ahead[t] - fresh[t], the value just before
    task t is learnt and that of an untrained model; NaN without them. maps are as for `forgetting`.

    >>> nan = float("nan")
    >>> backward, forward = ocdm.metrics.transfer([[0.8, nan], [0.6, 0.7]], ahead=[nan, 0.2], fresh=[0.1, 0.15])
    >>> round(backward, 4), round(forward, 4)
    (-0.2, 0.05)
    """
    import numpy

    maps = _maps(maps)
    if (ahead is None) != (fresh is None):
        raise ValueError("ahead and fresh belong together: a value for each task")
    before = numpy.full((2, maps.shape[1]), numpy.nan)
    for row, (name, given) in enumerate((("ahead", ahead), ("fresh", fresh))):
        if given is not None and numpy.shape(given) != maps.shape[1:]:
            raise ValueError(f"{name} must have a value for each of the {maps.shape[1]} tasks, not the shape {list(numpy.shape(given))}")
        before[row] = numpy.nan if given is None else given
    return _ocdm.transfer(maps, *maps.shape, before)
