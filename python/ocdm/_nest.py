"""Nests: tuples, dicts and lists of arrays, tensors and objects. The structure of a nest is the nest with the numbers of its parts."""
import sys


def is_tensor(value):
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_array(value):
    return hasattr(value, "shape") and hasattr(value, "dtype") and len(value.shape) > 0


def _is_nest(value):
    return isinstance(value, (tuple, dict)) or (isinstance(value, list) and any(map(is_array, value)))


def _rebuilt(nest, parts):
    """A nest of the same type with other parts."""
    if isinstance(nest, dict):
        return dict(zip(nest, parts))
    return type(nest)(*parts) if hasattr(nest, "_fields") else type(nest)(parts)


def parts_of(nest):
    return nest.values() if isinstance(nest, dict) else nest


def flatten(value, leaves):
    """The structure of a nest whose leaves are appended to a list."""
    if _is_nest(value):
        return _rebuilt(value, [flatten(part, leaves) for part in parts_of(value)])
    leaves.append(value)
    return len(leaves) - 1


def numbers_of(structure, numbers):
    """Appends the numbers of the leaves to a list."""
    if isinstance(structure, (tuple, list, dict)):
        for part in parts_of(structure):
            numbers_of(part, numbers)
    elif structure is not None:
        numbers.append(structure)


def collect(structure, value, leaves):
    """Appends the leaves of a nest of the known structure to a list. ValueError if it has another one."""
    if isinstance(structure, int):
        leaves.append(value)
    elif isinstance(structure, dict):
        if not isinstance(value, dict) or value.keys() != structure.keys():
            raise ValueError(f"the batch must be a dict with {list(structure)}")
        for key, part in structure.items():
            collect(part, value[key], leaves)
    else:
        if not isinstance(value, (tuple, list)) or len(value) != len(structure):
            raise ValueError(f"the batch must have {len(structure)} parts, as the first one had")
        for part, item in zip(structure, value):
            collect(part, item, leaves)


def build(structure, values):
    """A nest of the structure with these leaves."""
    if isinstance(structure, int):
        return values[structure]
    return _rebuilt(structure, [build(part, values) for part in parts_of(structure)])


def join(structure, batch, more):
    """Two batches after one another, as a nest of the structure."""
    if isinstance(structure, int):
        if isinstance(batch, list):
            return batch + more
        if is_tensor(batch):
            return sys.modules["torch"].cat([batch, more.to(batch.device)])
        import numpy
        return numpy.concatenate([batch, more])
    if isinstance(structure, dict):
        return {key: join(part, batch[key], more[key]) for key, part in structure.items()}
    return _rebuilt(structure, [join(part, a, b) for part, a, b in zip(structure, batch, more)])
