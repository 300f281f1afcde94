"""A buffer for Avalanche: balanced over classes, for samples with one label or several.

    from avalanche.training.plugins import ReplayPlugin
    from ocdm.avalanche import OCDMBuffer

    plugin = ReplayPlugin(mem_size=1000, storage_policy=OCDMBuffer(1000))
"""
import numpy
from avalanche.training.storage_policy import ExemplarsBuffer

from .memory import Memory


class OCDMBuffer(ExemplarsBuffer):
    """An ExemplarsBuffer whose samples an `ocdm.Memory` chooses.

    max_size   how many samples it keeps at most
    labels     a function of a dataset that gives the label sets of its samples, in a form that `Memory.update` takes; by default
               they are `dataset.targets`: integers, or multi-hot vectors
    step       samples per decision, as in the paper's online protocol
    options    those of `ocdm.Memory`: policy, distance, tie, rho, seed, tolerance
    """

    def __init__(self, max_size, labels=None, step=10, **options):
        super().__init__(max_size)
        self.memory = Memory(max_size, batch=step, **options)
        self.labels, self.step = labels, step

    def post_adapt(self, agent_state, exp):
        """Offers the samples of an experience."""
        self.update_from_dataset(exp.dataset)

    def update_from_dataset(self, new_data):
        """Offers the samples of a dataset, in its order. A dataset with wrong labels changes nothing."""
        sets = _targets(new_data) if self.labels is None else self.labels(new_data)
        if len(sets) != len(new_data):
            raise ValueError(f"there are {len(sets)} label sets for {len(new_data)} samples")
        memory = self.memory.__copy__()
        place = numpy.full(memory.capacity, -1)  # of each slot, in the new data followed by the old buffer
        place[:len(memory)] = len(new_data) + numpy.arange(len(memory))
        for first in range(0, len(new_data), self.step):
            change = memory.update(None, sets[first:first + self.step])
            place[change.slots] = first + change.items
        self.memory = memory
        self.buffer = new_data.concat(self.buffer).subset(place[:len(memory)].tolist())

    def resize(self, strategy, new_size):
        """Changes the size; a smaller buffer deletes samples by the policy's rule."""
        change = self.memory.resize(new_size)
        place = numpy.arange(len(self.buffer))
        place[change.moved_to] = place[change.moved_from]
        self.max_size = new_size
        if len(place) > len(self.memory):
            self.buffer = self.buffer.subset(place[:len(self.memory)].tolist())


def _targets(dataset):
    """The targets of a dataset as [n] integers or as multi-hot [n, C]."""
    targets = getattr(dataset, "targets", None)
    if targets is None:
        raise ValueError("the dataset has no targets; give OCDMBuffer a function `labels`")
    rows = [target.detach().cpu().numpy() if hasattr(target, "detach") else target for target in targets]
    return numpy.asarray(rows) if rows else numpy.empty(0, int)
