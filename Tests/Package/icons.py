# SPDX-License-Identifier: Apache-2.0
"""Icons that are all different, each known by its number, and the app lists that name them."""
import plistlib
import struct
import zlib

HOST = "icons.example.com"


def url(number):
    return f"http://{HOST}/{number}.png"


def number_of(url):
    return int(url.rpartition("/")[2].removesuffix(".png"))


def png(number):
    """An image of 8 x 8 pixels that no other number has."""
    colour = struct.pack(">I", number)
    rows = (b"\0" + colour[1:] * 8) * 8

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def plist(numbers):
    """An app list with the icons of these numbers."""
    return plistlib.dumps([{"name": f"App {number}", "icon": url(number)} for number in numbers])
