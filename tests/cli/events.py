"""Reads an event file of TensorBoard by its specification alone and prints each event as a line of JSON.

events.py FILE: exit code 1 with a reason if a checksum, a length or a field is wrong, or if the file ends within a record.
Pictures are decoded to their size and the sum of their bytes.
"""
import json
import struct
import sys
import zlib


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def table_entry(value):
    for _ in range(8):
        value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
    return value


table = [table_entry(i) for i in range(256)]
assert crc32c(b"123456789") == 0xE3069283  # the check value of the polynomial


def unmask(masked):
    rotated = (masked - 0xA282EAD8) & 0xFFFFFFFF
    return ((rotated >> 17) | (rotated << 15)) & 0xFFFFFFFF


def records(data):
    at = 0
    while at < len(data):
        assert at + 12 <= len(data), f"torn at byte {at}"
        (length,) = struct.unpack_from("<Q", data, at)
        assert unmask(struct.unpack_from("<I", data, at + 8)[0]) == crc32c(data[at : at + 8]), f"length at byte {at}"
        assert at + 16 + length <= len(data), f"torn at byte {at}"
        body = data[at + 12 : at + 12 + length]
        assert unmask(struct.unpack_from("<I", data, at + 12 + length)[0]) == crc32c(body), f"data at byte {at}"
        yield body
        at += 16 + length


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        wire = key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            (value,), at = struct.unpack_from("<d", data, at), at + 8
        elif wire == 5:
            (value,), at = struct.unpack_from("<f", data, at), at + 4
        elif wire == 2:
            length, at = varint(data, at)
            assert at + length <= len(data), "a field longer than its message"
            value, at = data[at : at + length], at + length
        else:
            raise AssertionError(f"wire type {wire}")
        yield key >> 3, value


def doubles(data):
    return list(struct.unpack(f"<{len(data) // 8}d", data))


def histogram(data):
    names = {1: "min", 2: "max", 3: "num", 4: "sum", 5: "sum_squares", 6: "limits", 7: "buckets"}
    return {names[field]: doubles(value) if field > 5 else value for field, value in fields(data)}


def png_size(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, pixels = 8, b""
    while at < len(data):
        (length,), kind = struct.unpack_from(">I", data, at), data[at + 4 : at + 8]
        chunk = data[at + 8 : at + 8 + length]
        assert struct.unpack_from(">I", data, at + 8 + length)[0] == zlib.crc32(kind + chunk)
        if kind == b"IHDR":
            width, height = struct.unpack_from(">II", chunk)
        pixels += chunk if kind == b"IDAT" else b""
        at += 12 + length
    return width, height, sum(zlib.decompress(pixels))


def image(data):
    found = dict(fields(data))
    width, height, total = png_size(found[4])
    assert (found[2], found[1], found[3]) == (width, height, 3)
    return [width, height, total]


def event(data):
    shown = {"scalars": {}, "histograms": {}, "images": {}}
    for field, value in fields(data):
        if field == 1:
            shown["wall_time"] = value
        elif field == 2:
            shown["step"] = value
        elif field == 3:
            shown["version"] = value.decode()
        elif field == 5:
            for inner, part in fields(value):
                assert inner == 1
                found = dict(fields(part))
                tag = found[1].decode()
                if 2 in found:
                    shown["scalars"][tag] = found[2]
                elif 5 in found:
                    shown["histograms"][tag] = histogram(found[5])
                elif 4 in found:
                    shown["images"][tag] = image(found[4])
        else:
            raise AssertionError(f"field {field} of an event")
    return shown


try:
    for body in records(open(sys.argv[1], "rb").read()):
        print(json.dumps(event(body)))
except AssertionError as reason:
    sys.exit(f"{sys.argv[1]}: {reason}")
