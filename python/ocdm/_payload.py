"""Payloads by place: one part of a batch for all samples in memory.

A payload is a list of objects, or rows. Rows have a holder, which says where they live (arrays, tensors of the CPU, other
tensors), a code, which says in which form they are kept (as they are, f32, f16, u8, JPEG), and may have a file of their own, to which
their array is mapped. HOLDERS and CODES are the tables. A place is a slot of the memory, or of a file the row that a slot has now.

    read(value)                 the rows of a batch; ValueError if they are not like those of the first batch
    prepared(rows, room)        a payload with room for them: all that is refused is refused here, and self does not change
    put(places, rows, items)    copies items of the batch to places
    take(places)                the samples there, as they came
    parcel(places), opened(parcel)    take in two parts, of which the second may be done in another process
"""
import copy
import io
import math
import sys

from ._nest import is_array, is_tensor

LEARNING = 256  # samples from which store="u8" learns its ranges


def payload_of(value, store):
    """An empty payload for parts of batches that are like this one."""
    if isinstance(value, list):
        return Objects()
    if not is_array(value):
        raise ValueError(f"a batch consists of arrays, tensors and lists with a sample each, not of {type(value).__name__}")
    holder = next(kind for kind in HOLDERS if kind.holds(value)).like(value)
    name, *numbers = (store or "none").split(":")
    code = CODES[name](*map(int, numbers))
    return Rows(holder, code if code.fits(holder) else AsItIs())


def check_store(store):
    name, *numbers = store.split(":") if isinstance(store, str) else ("none" if store is None else "",)
    right = name in CODES and (name != "none" or store is None) and len(numbers) == (2 if name == "jpeg" else 0)
    if (right and all(text.isdigit() for text in numbers)):
        CODES[name](*map(int, numbers))
        return
    raise ValueError(f"store must be 'f32', 'f16', 'u8', 'jpeg:QUALITY:PIXELS' or None, not {store!r}")


# ---- objects -------------------------------------------------------------------------------------------------------------

class Objects:
    learning = False
    on_disk = False

    def __init__(self):
        self.data = []

    def read(self, value):
        if not isinstance(value, list):
            raise ValueError("this part of the batch must be a list with an object per sample, as in the first batch")
        return list(value)  # what gives the labels might change it

    def one(self, value):
        return [value]

    def prepared(self, rows, room):
        self.data += [None] * min(len(rows), room - len(self.data))
        return self

    def put(self, places, rows, items):
        for place, item in zip(places.tolist(), items.tolist()):
            self.data[place] = rows[item]

    def take(self, places):
        return [self.data[place] for place in places.tolist()]

    parcel = take

    def opened(self, parcel):
        return parcel

    def without_data(self):
        return Objects()

    def spare(self, room):
        return None

    def move(self, before, after):
        for old, new in zip(before.tolist(), after.tolist()):
            if old < len(self.data):  # else it was cut already, before an interruption
                self.data[new] = self.data[old]

    def fit(self, size, spare):
        del self.data[size:]

    def row_bytes(self):
        return 0

    def to(self, device):
        return self

    def pin(self):
        pass

    def state(self, size, rows=True):
        return {"objects": self.data[:size]}

    def restore(self, state, room):
        self.data = list(state["objects"])
        return len(self.data)


# ---- rows ----------------------------------------------------------------------------------------------------------------

class Rows:
    def __init__(self, holder, code):
        self.holder, self.code, self.data, self.file = holder, code, None, None

    @property
    def learning(self):
        return self.code.learning

    @property
    def on_disk(self):
        return self.file is not None

    def read(self, value):
        rows = self.holder.rows_of(value)
        self.code.check(rows)
        return rows

    def one(self, value):
        return self.holder.lone(value)

    def prepared(self, rows, room):
        if self.data is not None and not self.learning:
            return self
        after = copy.copy(self)
        after.code = self.code.learned(self.holder, rows)
        after.data = after.empty(min(room, after.code.count) if after.learning else room)
        if self.data is not None:  # rows that waited for the ranges
            after.data[len(self.data):] = 0
            after.data[:len(self.data)] = after.code.encoded(self.holder, self.data)[:len(after.data)]
        elif after.learning:
            after.data[...] = 0
        return after

    def empty(self, count):
        return self.holder.empty(count, *self.code.form(self.holder))

    def put(self, places, rows, items):
        if len(places):
            self.holder.write(self.data, places, self.code.encoded(self.holder, self.holder.at(rows, items)))

    def take(self, places):
        return self.holder.given_back(self.code.decoded(self.holder, self.holder.at(self.data, places)))

    def parcel(self, places):
        if self.code.decodes_later:
            return self.holder.at(self.data, places)
        return self.holder.near(self.take(places))

    def opened(self, parcel):
        return self.holder.given_back(self.code.decoded(self.holder, parcel)) if self.code.decodes_later else parcel

    def spare(self, room):
        return None if self.learning or self.on_disk or len(self.data) == room else self.empty(room)

    def move(self, before, after):
        if len(before) and before.max() < len(self.data):  # else they were moved and cut already, before an interruption
            self.holder.write(self.data, after, self.holder.at(self.data, before))

    def fit(self, size, spare):
        if spare is not None and self.data is not spare:
            spare[:size] = self.data[:size]
            self.data = spare

    def to(self, device):
        if self.on_disk:
            raise ValueError("payloads in files stay there; move what is sampled")
        holder = self.holder.to(device)
        moved = Rows(holder, self.code.moved(holder))
        moved.data = holder.moved(self.data)
        return moved

    def pin(self):
        self.holder.pinned = True

    def row_bytes(self):
        row = self.empty(1) if self.data is not None else self.holder.empty(1, *self.code.settled_form(self.holder))
        return row.nbytes if hasattr(row, "nbytes") else row.element_size() * row.nelement()

    # A copy of the payload alone: what another process needs for `opened`, or for `take` from a file.
    def __getstate__(self):
        return {**self.__dict__, "data": None if self.on_disk else self.data}

    def __setstate__(self, state):
        self.__dict__.update(state)
        if self.on_disk:
            self.data = self.file.mapped()

    def without_data(self):
        other = Rows(self.holder, self.code)
        other.data, other.file = self.data if self.on_disk else None, self.file
        return other

    def read_shared(self, places):
        """take from a file that another process may have extended."""
        if len(places) and places.max() >= len(self.data):
            self.data = self.file.mapped()
        return self.take(places)

    # ---- states ----

    def state(self, size, rows=True):
        state = {"shape": list(self.holder.shape), "dtype": self.holder.name, "store": self.code.name,
                 "rows": plain(self.data[:size]) if rows else None}
        return {**state, **{name: plain(value) for name, value in self.code.state().items()}}

    def restore(self, state, room):
        self.code = self.code.restored(self.holder, state)
        dtype, shape = self.code.form(self.holder)
        if state["rows"] is None:  # they are in a file
            return None
        rows = self.holder.moved(state["rows"])
        wanted = self.empty(0).dtype
        if self.holder.keeps_bytes and rows.dtype == "u1" and rows.ndim == 2 and rows.dtype != wanted:  # see plain
            rows = rows.view(wanted).reshape(len(rows), *shape)
        if tuple(rows.shape) != (len(rows), *shape) or rows.dtype != wanted or len(rows) > room:
            raise ValueError("state: the payloads do not have the type and shape that they should")
        self.data = self.empty(len(rows) if self.learning else room)
        self.data[:len(rows)] = rows
        return len(rows)


# ---- where rows live -------------------------------------------------------------------------------------------------------

class Arrays:
    """NumPy arrays."""

    keeps_bytes = True  # in states, of types that PyTorch does not have
    pinned = False
    mappable = property(lambda self: not self.dtype.hasobject)  # may be mapped to a file

    def __init__(self, shape, dtype):
        self.shape, self.dtype = tuple(shape), dtype

    @staticmethod
    def holds(value):
        return not is_tensor(value)

    @classmethod
    def like(cls, value):
        return cls(value.shape[1:], value.dtype)

    @property
    def name(self):
        return self.dtype.descr if self.dtype.names else self.dtype.str

    @property
    def is_float(self):
        return self.dtype.kind == "f"

    @property
    def plain_type(self):
        return self.dtype

    def rows_of(self, value):
        self.check(value)
        if is_tensor(value):
            raise ValueError("this part of the batch must be an array, as in the first batch, not a tensor")
        return value

    def check(self, value):
        if is_array(value) and tuple(value.shape[1:]) == self.shape and value.dtype == self.dtype:
            return
        found = f"{value.dtype} of shape {tuple(value.shape)}" if is_array(value) else type(value).__name__
        raise ValueError(f"this part of the batch must be {self.dtype} of shape (n, {', '.join(map(str, self.shape))}), as in "
                         f"the first batch, not {found}")

    def lone(self, value):
        import numpy
        given = numpy.asarray(value)
        shorter = given.dtype.kind in "SU" and given.dtype.kind == self.dtype.kind and given.dtype.itemsize <= self.dtype.itemsize
        return (given if hasattr(value, "dtype") and not shorter else numpy.asarray(value, self.dtype))[None]

    def given_back(self, rows):
        return rows

    def near(self, rows):
        return rows

    def moved(self, rows):
        """Rows from anywhere where those of this payload are."""
        import numpy
        return None if rows is None else numpy.asarray(rows.cpu() if is_tensor(rows) else rows)

    def to(self, device):
        return self

    def empty(self, count, dtype, shape):
        import numpy
        return numpy.empty((count, *shape), dtype)

    def at(self, rows, indexes):
        return rows.take(indexes, 0)

    def write(self, data, places, rows):
        data[places] = rows

    def range_of(self, rows):
        return rows.min(0), rows.max(0)

    def widest(self, a, b, low):
        import numpy
        return numpy.minimum(a, b) if low else numpy.maximum(a, b)

    def typed(self, rows, dtype):
        return rows.astype(dtype, copy=False)


class HostTensors(Arrays):
    """Tensors of the CPU, which share their memory with arrays."""

    keeps_bytes = False
    mappable = True

    @staticmethod
    def holds(value):
        torch = sys.modules["torch"] if is_tensor(value) else None
        return torch is not None and value.device.type == "cpu" and value.dtype != torch.bfloat16

    name = property(lambda self: str(self.dtype))
    is_float = property(lambda self: self.dtype.is_floating_point)

    @property
    def plain_type(self):
        return sys.modules["torch"].empty(0, dtype=self.dtype).numpy().dtype

    def rows_of(self, value):
        self.check(value)
        try:
            return value.detach().numpy()
        except (AttributeError, TypeError, RuntimeError):  # no tensor, or one that is elsewhere or not dense
            return dense(value).cpu().numpy()

    def lone(self, value):
        return value[None] if is_tensor(value) else sys.modules["torch"].tensor([value], dtype=self.dtype)

    def given_back(self, rows):
        tensor = sys.modules["torch"].from_numpy(rows)
        return tensor.pin_memory() if self.pinned else tensor

    def to(self, device):
        return tensor_holder(self.shape, self.dtype, device)


class DeviceTensors(HostTensors):
    """Tensors of other devices, and those that NumPy has no type for."""

    mappable = False

    def __init__(self, shape, dtype, device):
        super().__init__(shape, dtype)
        self.device = device

    holds = staticmethod(is_tensor)

    @classmethod
    def like(cls, value):
        return cls(value.shape[1:], value.dtype, value.device)

    plain_type = property(lambda self: self.dtype)

    def rows_of(self, value):
        self.check(value)
        return dense(value).to(self.device)

    def given_back(self, rows):
        return rows.pin_memory() if self.pinned and rows.device.type == "cpu" else rows

    def near(self, rows):
        return rows.cpu()

    def moved(self, rows):
        return None if rows is None else sys.modules["torch"].as_tensor(rows, device=self.device)

    def empty(self, count, dtype, shape):
        torch = sys.modules["torch"]
        dtype = {"f4": torch.float32, "f2": torch.float16, "u1": torch.uint8}.get(dtype, dtype)
        return torch.empty((count, *shape), dtype=dtype, device=self.device)

    def indexes(self, places):
        return sys.modules["torch"].from_numpy(places).to(self.device)

    def at(self, rows, indexes):
        return rows.index_select(0, self.indexes(indexes))

    def write(self, data, places, rows):
        data.index_copy_(0, self.indexes(places), rows)

    def range_of(self, rows):
        return rows.amin(0), rows.amax(0)

    def widest(self, a, b, low):
        torch = sys.modules["torch"]
        return torch.minimum(a, b) if low else torch.maximum(a, b)

    def typed(self, rows, dtype):
        torch = sys.modules["torch"]
        return rows.to({"f4": torch.float32, "f2": torch.float16, "u1": torch.uint8}.get(dtype, dtype))


HOLDERS = (HostTensors, DeviceTensors, Arrays)


def tensor_holder(shape, dtype, device):
    torch = sys.modules["torch"]
    probe = torch.empty((0, *shape), dtype=dtype, device=device)
    return next(kind for kind in HOLDERS if kind.holds(probe)).like(probe)


def dense(value):
    """The numbers of a tensor; ValueError for all else."""
    if not is_tensor(value):
        raise ValueError("this part of the batch must be a tensor, as in the first batch")
    if value.layout is not sys.modules["torch"].strided or value.is_conj() or value.is_neg():
        raise ValueError("a tensor must be dense, without a conjugate or negative bit: write tensor.to_dense(), tensor.resolve_conj() or "
                         "tensor.resolve_neg()")
    return value.detach()


# ---- in which form they are kept -------------------------------------------------------------------------------------------

class AsItIs:
    name = None
    learning = False
    decodes_later = False

    def fits(self, holder):
        return True

    def form(self, holder):
        """Element type and shape of a row as it is kept."""
        return holder.plain_type, holder.shape

    def settled_form(self, holder):
        """That of the rows when nothing is learned any more."""
        return self.form(holder)

    def check(self, rows):
        pass

    def learned(self, holder, rows):
        """The code after a batch was offered."""
        return self

    def encoded(self, holder, rows):
        return rows

    def decoded(self, holder, rows):
        return rows

    def moved(self, holder):
        return self

    def state(self):
        return {"low": None, "high": None, "scale": None, "learned": 0}

    def restored(self, holder, state):
        if any(state[name] is not None for name in ("low", "high", "scale")) or not isinstance(state["learned"], int):
            raise ValueError("state: the ranges of the payloads contradict each other")
        return self


class Single(AsItIs):
    """store="f32" """

    name, type = "f32", "f4"

    def fits(self, holder):
        return holder.is_float

    def form(self, holder):
        return self.type, holder.shape

    def encoded(self, holder, rows):
        return holder.typed(rows, self.type)

    def decoded(self, holder, rows):
        return holder.typed(rows, holder.plain_type)


class Half(Single):
    """store="f16": beyond 65504 the largest finite number"""

    name, type = "f16", "f2"

    def encoded(self, holder, rows):
        return holder.typed(rows.clip(-65504, 65504), "f2")


class Bytes(Single):
    """store="u8": offset and scale of each feature, learned from the first samples, which wait as f32"""

    name, decodes_later = "u8", False

    def __init__(self):
        self.low = self.high = self.scale = None
        self.count = 0

    @property
    def learning(self):
        return self.scale is None

    @property
    def type(self):
        return "f4" if self.learning else "u1"

    def settled_form(self, holder):
        return "u1", holder.shape

    def check(self, rows):
        if len(rows) and not bool((abs(rows) <= 3e38).all()):
            raise ValueError("store='u8' cannot keep NaN, infinity or values beyond 3e38")

    def learned(self, holder, rows):
        after = copy.copy(self)
        if self.count >= LEARNING:
            scale = (self.high - self.low) / 255
            after.scale = holder.typed(scale + (scale == 0), "f4")
        elif len(rows):
            low, high = holder.range_of(holder.typed(rows, "f4"))
            after.low = low if self.low is None else holder.widest(self.low, low, True)
            after.high = high if self.high is None else holder.widest(self.high, high, False)
            after.count = self.count + len(rows)
        return after

    def encoded(self, holder, rows):
        rows = holder.typed(rows, "f4")
        return rows if self.learning else holder.typed(((rows - self.low) / self.scale).clip(0, 255).round(), "u1")

    def decoded(self, holder, rows):
        rows = rows if self.learning else holder.typed(rows, "f4") * self.scale + self.low
        return holder.typed(rows, holder.plain_type)

    def moved(self, holder):
        after = copy.copy(self)
        after.low, after.high, after.scale = map(holder.moved, (self.low, self.high, self.scale))
        return after

    def state(self):
        return {"low": self.low, "high": self.high, "scale": self.scale, "learned": self.count}

    def restored(self, holder, state):
        after = Bytes()
        after.count = state["learned"]
        for name in ("low", "high", "scale"):
            bound = holder.moved(state[name])
            if bound is not None and (tuple(bound.shape) != holder.shape or bound.dtype != holder.empty(0, "f4", ()).dtype):
                raise ValueError("state: the ranges of the payloads do not have the type and shape that they should")
            setattr(after, name, bound)
        if (not isinstance(after.count, int) or (after.low is None) != (after.high is None) or
                (after.scale is not None and after.low is None)):
            raise ValueError("state: the ranges of the payloads contradict each other")
        return after


class Jpeg(AsItIs):
    """store="jpeg:Q:P": images of bytes, [n, height, width, 3] or [n, 3, height, width], by the rules of `ocdm run --store`"""

    decodes_later = True

    def __init__(self, quality, pixels):
        if not 1 <= quality <= 100 or not 8 <= pixels <= 65535:
            raise ValueError("jpeg:QUALITY:PIXELS has a quality from 1 to 100 and at least 8 pixels")
        try:
            import PIL.Image
        except ImportError:
            raise ModuleNotFoundError("store='jpeg:...' needs Pillow: pip install pillow") from None
        self.image, self.quality, self.pixels = PIL.Image, quality, pixels
        self.name = f"jpeg:{quality}:{pixels}"
        scale = max(5000 // quality if quality < 50 else 200 - 2 * quality, 1)
        self.room = 640 + int(0.15 * pixels * pixels * math.sqrt(100 / scale))

    def __reduce__(self):
        return Jpeg, (self.quality, self.pixels)

    def fits(self, holder):
        """Images have bytes, and three channels, first or last."""
        near = not isinstance(holder, DeviceTensors)
        return near and len(holder.shape) == 3 and 3 in (holder.shape[0], holder.shape[2]) and holder.plain_type == "u1"

    def form(self, holder):
        return "u1", (self.room,)

    def bytes_of(self, picture):
        """At the first of the qualities Q, Q - 5, ..., 1 that fits into the room; else at half the side."""
        for quality in [*range(self.quality, 1, -5), 1]:
            file = io.BytesIO()
            picture.save(file, "JPEG", quality=quality, subsampling="4:2:0", optimize=True)
            if file.tell() <= self.room:
                return file.getvalue()
        return self.bytes_of(picture.resize((max(picture.width // 2, 1), max(picture.height // 2, 1)), self.image.BOX))

    def encoded(self, holder, rows):
        import numpy

        kept = numpy.zeros((len(rows), self.room), "u1")
        for row, picture in zip(kept, rows):
            picture = self.image.fromarray(picture if holder.shape[2] == 3 else picture.transpose(1, 2, 0).copy())
            ratio = self.pixels / min(picture.size)
            if ratio < 1:
                picture = picture.resize([max(round(side * ratio), 1) for side in picture.size], self.image.BILINEAR)
            data = self.bytes_of(picture)
            row[:len(data)] = numpy.frombuffer(data, "u1")
        return kept

    def decoded(self, holder, rows):
        import numpy

        last = holder.shape[2] == 3
        height, width = holder.shape[:2] if last else holder.shape[1:]
        pictures = numpy.empty((len(rows), *holder.shape), "u1")
        for row, place in zip(rows, pictures):
            picture = self.image.open(io.BytesIO(row.tobytes())).convert("RGB")
            if picture.size != (width, height):
                picture = picture.resize((width, height), self.image.BILINEAR)
            pixels = numpy.asarray(picture)
            place[...] = pixels if last else pixels.transpose(2, 0, 1)
        return pictures


CODES = {"none": AsItIs, "f32": Single, "f16": Half, "u8": Bytes, "jpeg": Jpeg}


# ---- states --------------------------------------------------------------------------------------------------------------

def plain(rows):
    """A copy for a state: a tensor when PyTorch is loaded. Of types that it does not have, the bytes of each row."""
    import numpy

    torch = sys.modules.get("torch")
    if rows is None or isinstance(rows, int) or is_tensor(rows):
        return rows.clone() if is_tensor(rows) else rows
    rows = numpy.array(rows)
    if torch is None or rows.dtype.hasobject:
        return rows
    try:
        return torch.from_numpy(rows)
    except (TypeError, ValueError):
        width = rows.itemsize * math.prod(rows.shape[1:])
        return torch.from_numpy(numpy.frombuffer(bytearray(rows.tobytes()), "u1").reshape(len(rows), width))


def restored(state, size, room):
    """The payload of a state. ValueError if it is damaged, or not that of so many samples."""
    import numpy

    try:
        if "objects" in state:
            payload = Objects()
        else:
            dtype, shape, store = state["dtype"], (0, *state["shape"]), state["store"]
            check_store(store)
            if not isinstance(dtype, (str, list)):
                raise TypeError(f"{dtype!r} is no type of payloads")
            if str(dtype).startswith("torch."):
                torch = sys.modules["torch"]
                device = "cpu" if state["rows"] is None or (store or "").startswith("jpeg") else state["rows"].device
                payload = payload_of(torch.empty(shape, dtype=getattr(torch, dtype[6:]), device=device), store)
            else:
                payload = payload_of(numpy.empty(shape, dtype), store)
            if payload.code.name != store:
                raise TypeError(f"{dtype!r} is not kept as {store!r}")
        rows = payload.restore(state, room)
    except (KeyError, TypeError, AttributeError, RuntimeError, OverflowError) as error:
        raise ValueError(f"state: a payload is damaged: {error!r}") from None
    if rows is not None and rows != size:
        raise ValueError(f"state: {rows} payloads for {size} samples")
    return payload
