"""Payloads in memory-mapped files of a folder, which are whole after any kill.

    state.safetensors   the last whole state: memory, places, priorities, all but the rows in files
    log.N               what happened since, a record after each change; the state says which N
    K.rows              the rows of part K of a batch

A row that some state refers to is never overwritten: new samples are written to free rows, then a record says which slots have which
rows now, and only then are the rows free that those slots had before. A record has the batch that was offered; the memory makes the
same decisions again when it is read. Whatever the log does not describe, such as another capacity, is followed by a whole state.

This holds when a process dies. For the loss of power, `Replay.flush` writes everything to the disk.
"""
import fcntl
import json
import mmap
import os
import struct
import weakref
import zlib

from . import _files

STATE = "state.safetensors"
HEADER = struct.Struct("<II")       # length and checksum of the record
COUNTS = struct.Struct("<QQIIIII")  # number, draws; offsets (0: no batch), labels, slots, rows, priorities; then names as JSON
LOG_SIZE = 1 << 20                  # a log as large as this, and as the state, is followed by a whole state


class RowFile:
    """The file of one payload: rows of one type and shape."""

    def __init__(self, path, dtype, shape):
        self.path, self.dtype, self.shape = path, dtype, tuple(shape)

    def mapped(self, count=None):
        """An array over the file, of `count` rows if that is given."""
        import numpy

        row = numpy.dtype(self.dtype).itemsize * max(int(numpy.prod(self.shape)), 1)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            if count is not None and os.fstat(descriptor).st_size < count * row:
                os.posix_fallocate(descriptor, 0, count * row)  # a full disk is told here, not by a signal when it is written
            count = os.fstat(descriptor).st_size // row
            data = mmap.mmap(descriptor, count * row)
        finally:
            os.close(descriptor)
        return numpy.frombuffer(data, self.dtype).reshape(count, *self.shape)


class Disk:
    def __init__(self, folder):
        self.folder, self.log, self.lock = os.fspath(folder), None, None
        os.makedirs(self.folder, exist_ok=True)
        self.lock = os.open(self.path("lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.close()
            raise OSError(f"{self.folder} is in use by another process, or by another replay of this one") from None
        _open.add(self)
        self.rows = None     # by slot: its row; -1: none. None while the payloads are in memory
        self.free = []
        self.waiting = []    # (draw, rows): free when that many draws of loaders were received
        self.drawn, self.outstanding = 0, {}
        self.log_number, self.log_size, self.state_size = 0, 0, 0
        self.number = self.changes = self.name_count = 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def exists(self):
        return os.path.exists(self.path(STATE))

    def close(self):
        for descriptor in (self.log, self.lock):
            if descriptor is not None:
                os.close(descriptor)
        self.log = self.lock = None

    __del__ = close

    def flush(self, payloads):
        """Brings the rows to the disk, whatever happens to the machine. A whole state is there when it is written."""
        for payload in payloads if self.rows is not None else ():
            descriptor = os.open(payload.file.path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    # ---- rows ----

    def check(self, structure, payloads):
        """Refuses what files cannot keep."""
        for payload in payloads:
            if not hasattr(payload, "holder") or not payload.holder.mappable or 0 in payload.holder.shape:
                raise ValueError("store_dir keeps arrays, and tensors of the CPU of a type that NumPy has; keep objects elsewhere, or as "
                                 "arrays of numbers")
        _files.check(structure)

    def attach(self, payloads, size, capacity):
        """Moves payloads to files, once the ranges of all are known: slot s is row s at first."""
        import numpy

        for number, payload in enumerate(payloads):
            file = RowFile(self.path(f"{number}.rows"), *payload.code.form(payload.holder))
            if os.path.exists(file.path):
                os.remove(file.path)  # of a state that was never whole
            data = file.mapped(capacity + SPARE)
            data[:size] = payload.data[:size]
            payload.file, payload.data = file, data
        self.rows = numpy.full(capacity, -1, "i8")
        self.rows[:size] = numpy.arange(size)
        self.free = list(range(capacity + SPARE - 1, size - 1, -1))

    def take_rows(self, count, payloads):
        """Rows that no state refers to; they are taken when the change is committed."""
        import numpy

        while self.waiting and self.waiting[0][0] < min(self.outstanding.values(), default=self.drawn + 1):
            self.free += self.waiting.pop(0)[1]
        if len(self.free) < count:
            have = len(payloads[0].data)
            more = max(count, SPARE, have // 8)
            for payload in payloads:
                payload.data = payload.file.mapped(have + more)
            self.free = list(range(have + more - 1, have - 1, -1)) + self.free
        return numpy.array(self.free[len(self.free) - count:], "i8")

    def exchange(self, slots, rows):
        """Gives slots the rows of take_rows; their old ones are free when no loader is about to read them."""
        taken = rows.tolist()
        old = [row for row in self.rows[slots].tolist() if row >= 0 and row not in taken]
        self.rows[slots] = rows
        if self.free[len(self.free) - len(taken):] == taken:
            del self.free[len(self.free) - len(taken):]
        self.release(old)

    def release(self, rows):
        if self.outstanding:
            self.waiting.append((self.drawn, rows))
        else:
            self.free += rows

    # ---- the log ----

    def commit(self, memory, slots, rows, priorities, offered, names):
        """Appends a record of a change; then it is part of the state. `offered`: the memory was given a batch."""
        if self.log is None:
            raise RuntimeError(f"{self.folder} is written by the process that opened it; this one was forked off, or has closed it")
        ids, offsets, labels = memory._batch_bytes() if offered else (b"", b"", b"")
        counts = COUNTS.pack(self.number + 1, memory._draws, len(offsets) // 8, len(labels) // 4, len(slots), len(rows), len(priorities))
        body = b"".join([counts, ids, offsets, labels, slots.tobytes(), rows.tobytes(), priorities.tobytes(),
                         json.dumps(names).encode() if names else b""])
        record = HEADER.pack(len(body), zlib.crc32(body)) + body
        written = os.pwrite(self.log, record, self.log_size)
        if written != len(record):
            raise OSError(f"{self.folder}: the disk is full; free some room and call again")
        self.log_size += len(record)
        self.number += 1
        self.changes = memory._changes

    @property
    def is_long(self):
        return self.log_size > max(LOG_SIZE, self.state_size)

    def save(self, state, memory):
        """Writes a whole state, from which a new log begins."""
        if self.lock is None:
            raise RuntimeError(f"{self.folder} is written by the process that opened it; this one was forked off, or has closed it")
        number = self.log_number + 1
        log = os.open(self.path(f"log.{number}"), os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        try:
            _files.write(self.path(STATE), {**state, "log": number, "number": self.number, "rows": self.rows}, False)
        except BaseException:
            os.close(log)
            raise
        old, before = self.log, self.log_number
        self.log, self.log_number, self.log_size = log, number, 0
        self.state_size, self.changes = os.path.getsize(self.path(STATE)), memory._changes
        if old is not None:
            os.close(old)
        if os.path.exists(self.path(f"log.{before}")):
            os.remove(self.path(f"log.{before}"))

    def load(self):
        """The last whole state; then `records` has what happened after it."""
        state = _files.read(self.path(STATE), False)
        self.log_number, self.number, self.rows = state.pop("log"), state.pop("number"), state.pop("rows")
        self.rows = None if self.rows is None else _as_numpy(self.rows)
        self.state_size = os.path.getsize(self.path(STATE))
        self.log = os.open(self.path(f"log.{self.log_number}"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        for name in os.listdir(self.folder):
            if name.startswith("log.") and name != f"log.{self.log_number}":
                os.remove(self.path(name))
        return state

    def records(self):
        """The complete records: (draws, ids, offsets, labels, slots, rows, priorities, names). What follows them was not committed."""
        import numpy

        with open(self.path(f"log.{self.log_number}"), "rb") as file:
            data = file.read()
        while self.log_size + HEADER.size <= len(data):
            length, checksum = HEADER.unpack_from(data, self.log_size)
            body = data[self.log_size + HEADER.size:self.log_size + HEADER.size + length]
            if len(body) < length or length < COUNTS.size or zlib.crc32(body) != checksum:
                break
            number, draws, offsets, labels, slots, rows, priorities = COUNTS.unpack_from(body)
            at, arrays = COUNTS.size, []
            for dtype, count in (("i8", max(offsets - 1, 0)), ("u8", offsets), ("u4", labels), ("i8", slots), ("i8", rows),
                                 ("f4", priorities)):
                arrays.append(numpy.frombuffer(body, dtype, count, at))
                at += arrays[-1].nbytes
            self.log_size += HEADER.size + length
            if number == self.number + 1:
                self.number = number
                yield draws, *arrays, json.loads(body[at:]) if at < len(body) else []

    def map(self, payloads):
        """Opens the files of payloads that a state left there."""
        for number, payload in enumerate(payloads):
            payload.file = RowFile(self.path(f"{number}.rows"), *payload.code.form(payload.holder))
            payload.data = payload.file.mapped()

    def move(self, before, after, size, capacity):
        """Follows samples to other slots, and the memory to another size."""
        import numpy

        used = set(self.rows.tolist())
        for old, new in zip(before.tolist(), after.tolist()):
            if old < len(self.rows) and self.rows[old] >= 0:  # else it was moved already, before an interruption
                self.rows[new], self.rows[old] = self.rows[old], -1
        kept = self.rows[:size]
        self.rows = numpy.full(capacity, -1, "i8")
        self.rows[:size] = kept
        self.release(list(used - set(kept.tolist()) - {-1}))

    def find_free(self, payloads):
        used = set(self.rows.tolist())
        self.free = [row for row in range(len(payloads[0].data) - 1, -1, -1) if row not in used]


SPARE = 64  # rows beyond the capacity, at first
_open = weakref.WeakSet()


def _close_all():
    """A process that was forked off must not write, nor keep the lock when the other one is gone."""
    for disk in list(_open):
        disk.close()


os.register_at_fork(after_in_child=_close_all)


def _as_numpy(value):
    return value.numpy() if hasattr(value, "numpy") else value
