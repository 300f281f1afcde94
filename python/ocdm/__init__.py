"""Replay memory for streams whose samples carry several labels.

A memory keeps at most M samples of a stream and their class distribution near a target (OCDM: Optimizing Class Distribution in
Memory), or follows one of the rules that it is compared with. Decisions are exact, take about a microsecond a sample, and are
the same as those of the program `ocdm`, on any machine.

    Replay    a memory with payloads: arrays, tensors, objects; add, sample, stream, write back, save, keep on disk
    Memory    decides which samples stay: ids and labels, no payloads; shards of a stream can be merged
    Stream    a file of `ocdm stream build`: features, images, labels, tasks as arrays without a copy
    Run       the online experiment around a model of your own, Step by Step, with the files of `ocdm run`
    metrics   CF1, OF1, mAP, forgetting
    split, select    stratified splits and subsets of multi-label data
    MultilabelStratifiedKFold, RepeatedMultilabelStratifiedKFold, MultilabelStratifiedShuffleSplit    for scikit-learn's cv=
    ocdm.mammoth.Buffer, ocdm.avalanche.OCDMBuffer, ocdm.torchrl.OCDMWriter    in place of those of Mammoth, Avalanche and TorchRL
    ocdm.distributed.Memory    one memory over the processes of torch.distributed

>>> import ocdm
>>> memory = ocdm.Memory(capacity=4, seed=0)
>>> change = memory.update(ids=[1, 2, 3, 4, 5, 6], labels=[["cat"], ["cat"], ["cat"], ["cat", "dog"], ["dog"], ["fish"]])
>>> len(memory), len(change.left_ids)
(4, 2)
>>> sorted(memory.counts["id"].tolist())
['cat', 'dog', 'fish']

NumPy is imported when the first array is made, PyTorch never: tensors are recognised when they are given.
"""
from ._ocdm import Change, __version__, policies
from . import metrics
from .memory import Memory
from .replay import Replay
from .run import Run, Step
from .stratify import (MultilabelStratifiedKFold, MultilabelStratifiedShuffleSplit, RepeatedMultilabelStratifiedKFold, select,
                       split)
from .stream import Stream

__all__ = ["Change", "Memory", "MultilabelStratifiedKFold", "MultilabelStratifiedShuffleSplit",
           "RepeatedMultilabelStratifiedKFold", "Replay", "Run", "Step", "Stream", "__version__", "metrics", "policies", "select",
           "split"]
