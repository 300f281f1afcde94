"""One memory over the processes of torch.distributed, as under DistributedDataParallel.

Every process offers its own batch and keeps its own payloads. Ids and label sets are gathered, so that all processes have the same memory
and make the same decisions: those of one process that is offered the batches of all, in the order of their ranks.
"""
import numpy
import torch.distributed

from . import memory as _memory

__all__ = ["Change", "Memory"]


class Change:
    """What an update, forget or resize did to the samples of this process. Copy payloads as after those of `ocdm.Memory`.

    slots, items              slots[i] holds item items[i] of the batch of this process
    left_slots                slots of samples of this process that were not kept
    moved_from, moved_to      slots of samples of this process that moved, by forget and resize only
    whole                     the ocdm.Change of all processes; its items count through the batches of all ranks
    """

    __slots__ = ("slots", "items", "left_slots", "moved_from", "moved_to", "whole")

    def __init__(self, whole, slots, items, left_slots, moved_from, moved_to):
        self.whole, self.slots, self.items, self.left_slots = whole, slots, items, left_slots
        self.moved_from, self.moved_to = moved_from, moved_to

    def __repr__(self):
        return f"<ocdm.distributed.Change: stored {len(self.slots)} here, {self.whole!r} in all>"


class Memory(_memory.Memory):
    """An `ocdm.Memory` that all processes of a group share. Each makes it with the same options, and calls update, draw, forget, resize,
    begin_task and set_weight as often as the others.

    group     a group of torch.distributed; None: all processes
    options   those of ocdm.Memory: capacity, of all processes together, policy, distance, tie, rho, seed and so on

        memory = ocdm.distributed.Memory(capacity=1000)
        payload = torch.zeros(1000, 512)                         # rows of the samples of this process are used, the others never
        for features, labels in loader_of_this_rank:
            train(features, payload[memory.draw(10)])            # own samples: the drawn ones differ from rank to rank
            change = memory.update(None, labels)
            payload[change.slots] = features[change.items]

    `owner` says by slot which rank has the payload.
    """

    __slots__ = ("group", "_owner")

    def __new__(cls, group=None, *args, **options):
        return super().__new__(cls, *args, **options)

    def __init__(self, group=None, *args, **options):
        self.group, self._owner = group, numpy.full(self.capacity, -1)

    @property
    def rank(self):
        """The number of this process in the group."""
        return torch.distributed.get_rank(self.group)

    @property
    def owner(self):
        """int64 array: the rank that has the payload of each slot."""
        return self._owner[:len(self)].copy()

    def update(self, ids, labels, known=None):
        """Offers the batches of all processes; this one gives its own, which may be empty. Arguments are those of `ocdm.Memory.update`;
        without ids, samples are numbered through the batches of all ranks. Returns the Change of this process.

        A batch that is refused in one process is refused in all, and nothing changes: ValueError, KeyError.
        """
        parts = self._gather(ids, labels, known)
        counts = [len(offsets) - 1 for _, offsets, _, _ in parts]
        starts = numpy.cumsum([0, *counts])
        joined = [self.arrived + start + numpy.arange(count) if own is None else own
                  for (own, *_), start, count in zip(parts, starts, counts)]
        whole = super().update(numpy.concatenate(joined), self._joined_labels(parts))
        left = whole.left_slots[whole.left_slots >= 0]
        gone = left[self._owner[left] == self.rank]
        rank_of = numpy.searchsorted(starts, whole.items, side="right") - 1
        self._owner[whole.slots] = rank_of
        mine = rank_of == self.rank
        nothing = whole.moved_from
        return Change(whole, whole.slots[mine], whole.items[mine] - starts[self.rank], gone, nothing, nothing)

    def _gather(self, ids, labels, known):
        """What every rank offers, as flat arrays and the names of its labels. If something is wrong with it in one rank, all raise."""
        reader, wrong = _memory.Memory(1), None
        try:
            flat = reader._read_batch(ids, labels, known)
            own_ids, offsets, numbers = (numpy.frombuffer(part, dtype) for part, dtype in zip(flat, ("i8", "u8", "u4")))
            own = (None if ids is None else own_ids, offsets, numbers, reader.names), None
        except Exception as error:  # whatever it is, the others wait
            own, wrong = (None, f"rank {self.rank}: {error}"), error
        all_of_them = [None] * torch.distributed.get_world_size(self.group)
        torch.distributed.all_gather_object(all_of_them, own, group=self.group)
        failed = next((text for _, text in all_of_them if text), None)
        if failed is not None:
            raise wrong or ValueError(failed)
        return [part for part, _ in all_of_them]

    def _joined_labels(self, parts):
        if any(names is not None for *_, names in parts):
            if any(names is None and len(numbers) for _, _, numbers, names in parts):
                raise ValueError("the labels of some processes are strings, those of others numbers")
            return [[names[number] for number in numbers[first:end].tolist()] for _, offsets, numbers, names in parts
                    for first, end in zip(offsets.astype(int), offsets[1:].astype(int))]
        offsets, start = [numpy.zeros(1, "i8")], 0
        for _, own, _, _ in parts:
            offsets.append(own[1:].astype("i8") + start)
            start = int(offsets[-1][-1]) if len(offsets[-1]) else start
        return numpy.concatenate(offsets), numpy.concatenate([numbers for _, _, numbers, _ in parts])

    def draw(self, count, by="uniform", weights=None, replace=False, exclude=None):
        """Draws slots of samples of this process; all processes must draw as often. Arguments are those of `ocdm.Memory.draw`."""
        mine = (self._owner[:len(self)] == self.rank).astype("f8")
        return super().draw(count, by, mine if weights is None else mine * numpy.asarray(weights), replace, exclude)

    def forget(self, id):
        """Deletes a sample on request, in all processes."""
        return self._follow(super().forget(id))

    def begin_task(self):
        """Says that the next samples begin a new task, in all processes."""
        return self._follow(super().begin_task())

    def resize(self, capacity):
        """Changes the capacity, in all processes."""
        return self._follow(super().resize(capacity))

    def _follow(self, whole):
        before, after = whole.moved_from, whole.moved_to
        left = whole.left_slots[whole.left_slots >= 0]
        gone, mine = left[self._owner[left] == self.rank], self._owner[before] == self.rank
        self._owner[after] = self._owner[before]
        kept = self._owner[:len(self)]
        self._owner = numpy.full(self.capacity, -1)
        self._owner[:len(kept)] = kept
        nothing = whole.slots
        return Change(whole, nothing, nothing, gone, before[mine], after[mine])

    def state_dict(self):
        """That of `ocdm.Memory`, and which rank has which sample. Save payloads beside it, rank by rank."""
        return {**super().state_dict(), "owner": _memory._tensor(self.owner.astype("u8"))}

    def load_state_dict(self, state):
        """Becomes the memory of a state_dict of a group of as many processes."""
        owner = _memory._array("owner", state["owner"])[2].astype("i8")
        super().load_state_dict({name: value for name, value in state.items() if name != "owner"})
        self._owner = numpy.full(self.capacity, -1)
        self._owner[:len(self)] = owner
