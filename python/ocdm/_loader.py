"""Batches that one process draws and others decode.

What is sent to a worker is all that it needs of the samples as they were when they were drawn: their payloads, or with store_dir the
rows of the files where they are. Such rows are not written until the batch has come back.
"""
import collections

from ._nest import build


class Sampler:
    """Draws of slots."""

    def __init__(self, replay, batch_size, batches):
        self.replay, self.batch_size, self.batches = replay, batch_size, batches

    def __iter__(self):
        drawn = 0
        while self.batches is None or drawn < self.batches:
            yield self.replay._draw(self.batch_size)
            drawn += 1

    def __len__(self):
        if self.batches is None:
            raise TypeError("an endless sampler has no length")
        return self.batches


class Loader:
    """An iterable of sampled batches, see Replay.loader."""

    def __init__(self, replay, batch_size, batches, num_workers, pin_memory, collate_fn, transform, draw):
        unknown = set(draw) - {"by", "weights", "replace", "exclude"}
        if unknown:
            raise TypeError(f"loader() got an unexpected argument {sorted(unknown)[0]!r}")
        self.replay, self.batch_size, self.batches, self.draw = replay, batch_size, batches, draw
        self.num_workers, self.pin_memory, self.collate_fn, self.transform = num_workers, pin_memory, collate_fn, transform

    def __len__(self):
        if self.batches is None:
            raise TypeError("an endless loader has no length")
        return self.batches

    def __iter__(self):
        draws = _Draws(self)
        batches = _Batches(self, draws.on_disk)
        try:
            if not self.num_workers and not self.pin_memory:
                made = map(batches.__getitem__, draws)
            else:
                from torch.utils.data import DataLoader
                made = DataLoader(batches, sampler=draws, batch_size=None, num_workers=self.num_workers, pin_memory=self.pin_memory,
                                  collate_fn=_as_it_is)
            for batch in made:
                draws.received()
                yield batch
        finally:
            draws.end()


def _as_it_is(batch):
    return batch


class _Draws:
    """The parcels of an iteration, and which of them have not come back."""

    def __init__(self, loader):
        self.loader, self.pending = loader, collections.deque()
        disk = loader.replay._disk
        self.on_disk = disk is not None and disk.rows is not None
        if loader.replay._structure is None:
            raise ValueError("nothing was added yet, so there is nothing to take")
        self.structure = loader.replay._structure

    def __iter__(self):
        loader, replay, drawn = self.loader, self.loader.replay, 0
        while loader.batches is None or drawn < loader.batches:
            with replay._lock:
                if replay._structure is not self.structure:
                    raise RuntimeError("the replay was cleared, or loaded, during an iteration")
                slots = replay._draw(loader.batch_size, **{name: value() if callable(value) else value
                                                           for name, value in loader.draw.items()})
                if self.on_disk:
                    self.expect(replay._disk)
                    parcel = replay._places(slots)
                else:
                    parcel = [leaf.parcel(replay._places(slots)) for leaf in replay._leaves]
            yield parcel
            drawn += 1

    def expect(self, disk):
        disk.drawn += 1
        self.pending.append(disk.drawn)
        disk.outstanding[id(self)] = self.pending[0]

    def received(self):
        if self.on_disk:
            self.pending.popleft()
            if self.pending:
                self.loader.replay._disk.outstanding[id(self)] = self.pending[0]
            else:
                self.end()

    def end(self):
        if self.on_disk:
            self.loader.replay._disk.outstanding.pop(id(self), None)


class _Batches:
    """What a worker has: it makes batches of parcels."""

    def __init__(self, loader, on_disk):
        self.structure, self.on_disk = loader.replay._structure, on_disk
        self.leaves = [leaf.without_data() for leaf in loader.replay._leaves]
        self.transform, self.collate_fn = loader.transform, loader.collate_fn

    def __getitem__(self, parcel):
        if self.on_disk:
            values = [leaf.read_shared(parcel) for leaf in self.leaves]
        else:
            values = [leaf.opened(part) for leaf, part in zip(self.leaves, parcel)]
        if self.transform is None and self.collate_fn is None:
            return build(self.structure, values)
        samples = [build(self.structure, [value[i] for value in values]) for i in range(len(values[0]))]
        if self.transform is not None:
            samples = list(map(self.transform, samples))
        if self.collate_fn is not None:
            return self.collate_fn(samples)
        from torch.utils.data import default_collate
        return default_collate(samples)
