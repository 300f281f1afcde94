"""A buffer in place of Mammoth's `utils.buffer.Buffer`: balanced over classes, for samples with one label or several.

    from ocdm.mammoth import Buffer

    self.buffer = Buffer(self.args.buffer_size, self.device)

Labels are integers [n] or multi-hot [n, C]; with multi-hot floats `labels` keeps its type, so that it can go into a loss.

Checkpoints of Mammoth, of both modes, have the memory in them: what `load_buffer` is given goes on exactly as the buffer that was saved.
All that is random follows from the seed of the memory, nothing from generators of NumPy or PyTorch.
"""
import copy
import sys

import numpy
import torch

from .memory import Memory, _own_policy, _restored

_POLICIES = {"reservoir": "rs"}  # Mammoth's names where they differ
_TENSORS = ["examples", "labels", "logits", "task_labels", "true_labels"]


class Buffer:
    """What Mammoth's models use of their buffer, with an `ocdm.Memory` that decides.

    buffer_size                 how many samples it keeps at most; may be set
    device                      where the tensors are
    sample_selection_strategy   a policy of `ocdm.policies()`, or "reservoir"
    kwargs                      other options of `ocdm.Memory`: distance, tie, rho, seed, tolerance

    `examples`, `labels`, `logits`, `task_labels` and `true_labels` are tensors of `buffer_size` rows, of which the first
    `len(buffer)` are in use; those that were never added do not exist.
    """

    def __init__(self, buffer_size, device="cpu", sample_selection_strategy="ocdm", **kwargs):
        kwargs.pop("dataset", None)  # for Mammoth's `abs`
        self._loaded, self._replaced = None, {}
        self.device, self.sample_selection_strategy = device, sample_selection_strategy
        self.memory = Memory(buffer_size, _POLICIES.get(sample_selection_strategy, sample_selection_strategy), **kwargs)
        vars(self)["attention_maps"] = [None] * buffer_size

    # ---- size ----

    def __len__(self):
        return len(self.memory)

    @property
    def num_seen_examples(self):
        """Samples offered so far; may be set to 0, which empties the buffer. To set it ends Mammoth's `load_buffer`."""
        return self.memory.arrived

    @num_seen_examples.setter
    def num_seen_examples(self, value):
        if self._loaded is not None:
            self._end_load()
        elif value == 0:
            self.empty()
        elif value != self.memory.arrived:
            self._take_back()
            raise ValueError("num_seen_examples follows from what was added and can only be set to 0; the checkpoint, if one is being "
                             "loaded, is that of another buffer")

    @property
    def buffer_size(self):
        """The capacity. Setting it keeps what fits, by the policy's rule."""
        return self.memory.capacity

    @buffer_size.setter
    def buffer_size(self, value):
        change = self.memory.resize(value)
        source, target = torch.from_numpy(change.moved_from), torch.from_numpy(change.moved_to)
        for name in self.used_attributes:
            old = getattr(self, name)
            new = torch.zeros((value, *old.shape[1:]), dtype=old.dtype, device=old.device)
            old[target.to(old.device)] = old[source.to(old.device)]
            new[:len(self)] = old[:len(self)]
            vars(self)[name] = new
        for old_slot, new_slot in zip(source.tolist(), target.tolist()):
            self.attention_maps[new_slot] = self.attention_maps[old_slot]
        vars(self)["attention_maps"] = self.attention_maps[:len(self)] + [None] * (value - len(self))

    @property
    def attributes(self):
        """The names of the tensors that a buffer may have. Setting them, as `load_buffer` does, has no effect."""
        return list(_TENSORS)

    @attributes.setter
    def attributes(self, names):
        pass

    @property
    def used_attributes(self):
        """The attributes that exist."""
        return [name for name in self.attributes if hasattr(self, name)]

    def is_empty(self):
        """Whether nothing was added yet."""
        return self.num_seen_examples == 0

    def is_full(self):
        """Whether it holds as many samples as it may."""
        return len(self) >= self.buffer_size

    def empty(self):
        """Deletes everything and starts with an empty memory."""
        self._loaded, self._replaced = None, {}
        for name in self.used_attributes:
            delattr(self, name)
        vars(self)["attention_maps"] = [None] * self.buffer_size
        self.memory = self.memory._emptied()

    # ---- adding ----

    def add_data(self, examples, labels=None, logits=None, task_labels=None, attention_maps=None, true_labels=None,
                 sample_selection_scores=None):
        """Offers samples. `sample_selection_scores` is ignored: no policy here uses losses. ValueError: nothing changes."""
        given = {"examples": examples, "labels": labels, "logits": logits, "task_labels": task_labels, "true_labels": true_labels}
        given = {name: tensor.detach() for name, tensor in given.items() if tensor is not None}
        for name, tensor in given.items():
            known = getattr(self, name, None)
            if len(tensor) != len(examples) or (known is not None and known.shape[1:] != tensor.shape[1:]):
                raise ValueError(f"{name} has the shape {tuple(tensor.shape)}, which does not fit the buffer or the examples")
        self._loaded, self._replaced = None, {}
        stores = {name: self._store(name, tensor) for name, tensor in given.items()}  # allocated before the memory changes
        sets = [[]] * len(examples) if labels is None else labels
        change = self.memory.update(range(self.num_seen_examples, self.num_seen_examples + len(examples)), sets)
        slots, items = torch.from_numpy(change.slots), torch.from_numpy(change.items)
        vars(self).update(stores)
        for name, tensor in given.items():
            store = stores[name]
            store[slots.to(store.device)] = tensor[items.to(tensor.device)].to(device=store.device, dtype=store.dtype)
        if attention_maps is not None:
            for slot, item in zip(slots.tolist(), items.tolist()):
                self.attention_maps[slot] = [part[item].byte().to(self.device) for part in attention_maps]

    def _store(self, name, tensor):
        """The tensor of an attribute, or a new one with Mammoth's type, except for multi-hot floats."""
        if hasattr(self, name):
            return getattr(self, name)
        plain = torch.int64 if name.endswith("els") else torch.float32
        dtype = tensor.dtype if name.endswith("els") and tensor.is_floating_point() else plain
        return torch.zeros((self.buffer_size, *tensor.shape[1:]), dtype=dtype, device=self.device)

    # ---- taking ----

    def get_data(self, size, transform=None, return_index=False, device=None, mask_task_out=None, cpt=None, return_not_aug=False,
                 not_aug_transform=None, force_indexes=None):
        """A tuple of `size` samples, fewer if there are fewer: examples, then the other attributes in use.

        transform          applied to the examples
        return_index       the slots come first
        mask_task_out      samples of this task are left out, by task_labels, or by labels and `cpt` classes per task
        return_not_aug     the examples with not_aug_transform come before those with transform
        force_indexes      these samples, among those that are not masked out
        """
        slots = self._allowed(mask_task_out, cpt)
        if force_indexes is not None:
            chosen = slots[torch.as_tensor(force_indexes, dtype=torch.int64)]
        elif mask_task_out is None:
            chosen = torch.from_numpy(self.memory.draw(size))
        else:
            order = torch.from_numpy(self.memory.draw(len(self)))
            chosen = order[torch.isin(order, slots)][:size]
        return self._taken(chosen, transform, device, return_index, (return_not_aug, not_aug_transform))

    def _allowed(self, task, cpt):
        slots = torch.arange(len(self))
        if task is None:
            return slots
        if not hasattr(self, "task_labels") and (cpt is None or not hasattr(self, "labels")):
            raise ValueError("mask_task_out needs task_labels, or labels and cpt")
        tasks = self.task_labels if hasattr(self, "task_labels") else self.labels // cpt
        return slots[(tasks[:len(self)] != task).cpu()]

    def _taken(self, slots, transform, device, return_index=False, not_aug=(False, None)):
        device = self.device if device is None else device
        rows = slots.to(self.examples.device)
        examples = self.examples[rows]
        parts = [slots.to(device)] if return_index else []
        if not_aug[0]:
            parts.append(_transformed(examples, not_aug[1]).to(device))
        parts.append(_transformed(examples, transform).to(device))
        return tuple(parts + [getattr(self, name)[rows].to(device) for name in self.used_attributes[1:]])

    def get_balanced_data(self, size, transform=None, n_classes=-1):
        """A tuple of `size` samples, equal numbers of `n_classes` random classes; -1: of all. Classes that have too few are left out, and
        if no class has enough all samples are drawn alike. A sample with several labels is taken once."""
        order, sets, of_class, chosen = self.memory.draw(len(self)).tolist(), self.memory.labels(), {}, {}
        for slot in order:
            for label in sets[slot]:
                of_class.setdefault(label, []).append(slot)
        size = min(size, len(order))
        shares = _shares(size, of_class, len(of_class) if n_classes == -1 else n_classes, numpy.random.default_rng(order))
        for label, share in shares:
            chosen.update(dict.fromkeys([slot for slot in of_class[label] if slot not in chosen][:share]))
        slots = [*chosen, *(slot for slot in order if slot not in chosen)][:size]
        return self._taken(torch.tensor(slots, dtype=torch.int64), transform, None)

    def get_dataloader(self, args, batch_size, shuffle=False, drop_last=False, transform=None, sampler=None):
        """A DataLoader of the samples by slot; `args.seed` shuffles."""
        generator = None if args.seed is None else torch.Generator().manual_seed(args.seed)
        return torch.utils.data.DataLoader(_Samples(self, transform), batch_size, shuffle, sampler, drop_last=drop_last, generator=generator)

    def get_data_by_index(self, indexes, transform=None, device=None):
        """The samples in these slots."""
        return self._taken(torch.as_tensor(indexes, dtype=torch.int64), transform, device)

    def get_all_data(self, transform=None, device=None):
        """All samples, by slot."""
        return self._taken(torch.arange(len(self)), transform, device)

    def __getitem__(self, index, transform=None):
        if not 0 <= index < len(self):
            raise IndexError(f"slot {index} is not in use")
        return [part.squeeze(0) for part in self.get_data_by_index([index], transform)]

    # ---- devices and files ----

    def to(self, device):
        """Moves the tensors to a device."""
        self.device = device
        for name in self.used_attributes:
            vars(self)[name] = getattr(self, name).to(device)
        return self

    def serialize(self, out_device="cpu"):
        """A dict of the memory and of the attributes in use, in the order in which `load_buffer` sets them."""
        maps = [each and [part.to(out_device) for part in each] for each in self.attention_maps]
        return {"memory_state": self.memory_state, **{name: getattr(self, name).to(out_device) for name in self.used_attributes},
                **({"attention_maps": maps} if any(maps) else {})}

    @property
    def memory_state(self):
        """The memory as a tensor of bytes. Setting it begins Mammoth's `load_buffer`; ValueError if it is not whole, or of another size."""
        return torch.frombuffer(bytearray(self.memory._save_bytes()), dtype=torch.uint8)

    @memory_state.setter
    def memory_state(self, state):
        memory = _restored(Memory, bytes(state.cpu().numpy()), copy.deepcopy(_own_policy(self.memory)), None)
        if memory.capacity != self.buffer_size:
            raise ValueError(f"the checkpoint is that of a buffer of {memory.capacity} samples, and this one is of {self.buffer_size}")
        self._loaded, self._replaced = memory, {}

    def __setattr__(self, name, value):
        """Notes what an assignment from outside replaces, for a load that fails; the methods here write to vars(self)."""
        if name in _TENSORS or name == "attention_maps":
            self._replaced.setdefault(name, vars(self).get(name))
        object.__setattr__(self, name, value)

    def _end_load(self):
        memory, given = self._loaded, {"attention_maps": [None] * self.buffer_size, **{name: vars(self)[name] for name in self._replaced}}
        if any(len(rows) != self.buffer_size for rows in given.values()):
            self._take_back()
            raise ValueError(f"the tensors of the checkpoint do not have {self.buffer_size} rows")
        given.update({name: given[name].to(self.device) for name in set(given) & set(_TENSORS)})
        self.empty()
        self.memory = memory
        vars(self).update(given)

    def _take_back(self):
        for name, value in self._replaced.items():
            vars(self)[name] = value
            if value is None:
                delattr(self, name)
        self._loaded, self._replaced = None, {}

    @property
    def __class__(self):
        """Mammoth's `Buffer` where that is loaded: its `load_buffer` asks isinstance."""
        return getattr(sys.modules.get("utils.buffer"), "Buffer", Buffer)

    def __reduce__(self):
        return _bare, (), {**vars(self), "_loaded": None, "_replaced": {}}


def _bare():
    return object.__new__(Buffer)


class _Samples:
    """What a DataLoader needs of a buffer."""

    def __init__(self, buffer, transform):
        self.buffer, self.transform = buffer, transform

    def __len__(self):
        return len(self.buffer)

    def __getitem__(self, index):
        return self.buffer.__getitem__(index, self.transform)


def _shares(size, of_class, count, chance):
    """Which classes a balanced draw takes, and how many samples of each: `count` random ones of those that have enough."""
    wide = sorted(of_class)
    while True:
        count = min(count, len(wide))
        if count == 0:
            return []
        wide = [label for label in sorted(of_class) if len(of_class[label]) >= -(-size // count)]
        if len(wide) >= count:
            break
    return [(wide[number], size // count + (i < size % count)) for i, number in enumerate(chance.permutation(len(wide))[:count])]


def _transformed(examples, transform):
    """Applies a transform as Mammoth does: its own function where it is loaded, else image by image on the CPU."""
    if transform is None:
        return examples
    theirs = sys.modules.get("utils.augmentations")
    if theirs is not None and hasattr(theirs, "apply_transform"):
        return theirs.apply_transform(examples, transform=transform)
    return torch.stack([transform(example) for example in examples.cpu()]).to(examples.device)
