# SPDX-License-Identifier: Apache-2.0
"""PNG images of exactly the wanted size, each one different from the others."""
import hashlib
import os
import struct
import zlib


def _chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


_HEAD = b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
_TAIL = _chunk(b"IDAT", zlib.compress(b"\0\0")) + _chunk(b"IEND", b"")
_TITLE = b"Title\0"
SMALLEST = len(_HEAD) + len(_TAIL) + 12 + len(_TITLE)


def png(text, size=None):
    """An image of one pixel that carries the text; as small as that goes, or of the size, with bytes that depend on the text.

    They cannot be compressed: ostree would have fewer to transfer.
    """
    text = text.encode()
    if size is not None:
        length = size - SMALLEST
        if length < len(text):
            raise ValueError(f"{text} does not fit into an image of {size} bytes")
        text = hashlib.shake_128(text).digest(length).replace(b"\0", b"\1")
    return _HEAD + _chunk(b"tEXt", _TITLE + text) + _TAIL


def write(folder, count, size=None, start=0):
    """Writes images as 0.png, 1.png, … into a new folder."""
    os.makedirs(folder, exist_ok=True)
    for number in range(start, start + count):
        with open(f"{folder}/{number}.png", "wb") as file:
            file.write(png(f"{number}.", size))
