"""States as safetensors files: arrays and tensors as tensors of the file, all else as JSON in its metadata, what JSON does not have by
pickle, if that is allowed."""
import json
import pickle
import sys

from . import _ocdm
from ._nest import is_array, is_tensor

FORMAT = "ocdm-replay"
VERSION = "1"
DTYPES = {"|u1": "U8", "|i1": "I8", "<u4": "U32", "<i4": "I32", "<u8": "U64", "<i8": "I64", "<f2": "F16", "<f4": "F32", "<f8": "F64"}
TYPES = {code: dtype for dtype, code in DTYPES.items()} | {"BF16": "<i2"}


class _Writer:
    def __init__(self, allow_pickle):
        self.allow_pickle, self.tensors = allow_pickle, []

    def described(self, value, name):
        """What the JSON has instead of a value, whose arrays are noted."""
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if type(value) is list:
            return [self.described(part, f"{name}.{i}") for i, part in enumerate(value)]
        if type(value) is tuple:
            return {"tuple": [self.described(part, f"{name}.{i}") for i, part in enumerate(value)]}
        if type(value) is dict and all(isinstance(key, str) for key in value):
            return {"dict": {key: self.described(part, f"{name}.{key}") for key, part in value.items()}}
        if is_tensor(value) or (is_array(value) and not value.dtype.hasobject):
            return self.array(value, name)
        if not self.allow_pickle:
            raise ValueError(f"{name} is an object of the type {type(value).__name__}: only pickle can write it, and whoever loads the "
                             "file must trust it; allow_pickle=True")
        import numpy
        return {"pickle": self.array(numpy.frombuffer(pickle.dumps(value), "u1"), name)}

    def array(self, value, name):
        import numpy

        described = {"tensor": name}
        if is_tensor(value):
            torch = sys.modules["torch"]
            described["torch"], value = str(value.dtype), value.detach().cpu()
            value = (value.view(torch.int16) if value.dtype == torch.bfloat16 else value).numpy()
        value = numpy.ascontiguousarray(value)
        code = "BF16" if described.get("torch") == "torch.bfloat16" else DTYPES.get(value.dtype.str)
        if code is None:  # a type that these files do not have: the bytes of each element
            described["dtype"], described["shape"] = value.dtype.descr if value.dtype.names else value.dtype.str, list(value.shape)
            code, value = "U8", numpy.frombuffer(value.tobytes(), "u1")
        self.tensors.append((name, code, value, value.shape))
        return described


class _Reader:
    def __init__(self, data, entries, allow_pickle):
        self.data, self.allow_pickle = data, allow_pickle
        self.entries = {name: entry for name, *entry in entries}

    def value(self, described):
        if isinstance(described, list):
            return [self.value(part) for part in described]
        if not isinstance(described, dict):
            return described
        if "tuple" in described:
            return tuple(self.value(part) for part in described["tuple"])
        if "dict" in described:
            return {key: self.value(part) for key, part in described["dict"].items()}
        if "pickle" not in described:
            return self.array(described)
        if not self.allow_pickle:
            raise ValueError("the file has objects that pickle wrote, which may run any code: allow_pickle=True if you trust it")
        return pickle.loads(self.array(described["pickle"]).tobytes())

    def array(self, described):
        import numpy

        code, shape, offset, size = self.entries[described["tensor"]]
        value = numpy.frombuffer(self.data, TYPES[code], offset=offset, count=size // numpy.dtype(TYPES[code]).itemsize)
        value = value.reshape(shape).copy()
        if "dtype" in described:
            dtype = described["dtype"]
            dtype = [tuple(field) for field in dtype] if isinstance(dtype, list) else dtype
            value = numpy.frombuffer(bytearray(value.tobytes()), dtype).reshape(described["shape"])
        if "torch" not in described:
            return value
        import torch
        tensor = torch.from_numpy(value)
        return tensor.view(torch.bfloat16) if code == "BF16" else tensor


def check(value):
    """ValueError for what only pickle could write."""
    _Writer(False).described(value, "the structure of a batch")


def write(path, state, allow_pickle):
    """Writes a state to a file, which takes the place of an old one when it is complete."""
    writer = _Writer(allow_pickle)
    notes = {"format": FORMAT, "version": VERSION, "state": json.dumps(writer.described(state, "replay"))}
    tensors = [tensor for tensor in writer.tensors if tensor[2].size]
    empty = [tensor for tensor in writer.tensors if not tensor[2].size]
    tensors.sort(key=lambda tensor: -tensor[2].dtype.itemsize)  # the widest first, so that all are aligned
    _ocdm.pack(notes, tensors + empty, path)


def read(path, allow_pickle):
    """The state of a file. OSError; ValueError if it is damaged, or no file of this kind."""
    with open(path, "rb") as file:
        data = file.read()
    entries = _ocdm.unpack(data, str(path))
    length = int.from_bytes(data[:8], "little")
    notes = json.loads(data[8:8 + length]).get("__metadata__", {})
    if notes.get("format") != FORMAT or notes.get("version") != VERSION:
        raise ValueError(f"{path}: this is not a file of ocdm.Replay of version {VERSION}")
    try:
        return _Reader(data, entries, allow_pickle).value(json.loads(notes["state"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path}: the file is damaged: {error!r}") from None
