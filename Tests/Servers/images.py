# SPDX-License-Identifier: Apache-2.0
"""Images that servers are given: PNG files of a chosen size, and one file for each type."""
import base64
import hashlib
import struct
import zlib


def picture(seed, side=24):
    """A PNG that no other seed has. Its length depends on its side alone."""
    line = side * 3
    pixels = hashlib.shake_256(str(seed).encode()).digest(line * side)
    rows = b"".join(b"\0" + pixels[start:start + line] for start in range(0, len(pixels), line))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    # Without compression, so that the length does not depend on the pixels.
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b"")


def ico():
    """An icon file with one PNG of 24 x 24 pixels."""
    data = picture("ico")
    return struct.pack("<HHH", 0, 1, 1) + struct.pack("<BBBBHHII", 24, 24, 0, 0, 1, 32, len(data), 22) + data


SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8" fill="red"/></svg>\n'
WEBP = base64.b64decode("UklGRh4AAABXRUJQVlA4TBEAAAAvB8ABAAdQjyIXpf+BiOh/AAA=")
AVIF = base64.b64decode(
    "AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUIAAADrbWV0YQAAAAAAAAAhaGRscgAAAAAAAAAAcGljdAAAAAAAAAAAAAAAAAAAAAAOcG"
    "l0bQAAAAAAAQAAAB5pbG9jAAAAAEQAAAEAAQAAAAEAAAETAAAAJQAAAChpaW5mAAAAAAABAAAAGmluZmUCAAAAAAEAAGF2MDFDb2xvcgAAAABq"
    "aXBycAAAAEtpcGNvAAAAFGlzcGUAAAAAAAAACAAAAAgAAAAQcGl4aQAAAAADCAgIAAAADGF2MUOBAAwAAAAAE2NvbHJuY2x4AAEADQAGgAAAAB"
    "dpcG1hAAAAAAAAAAEAAQQBAoMEAAAALW1kYXQSAAoIGAi/aICGg0IyFxxHh4Xd0000wsAAAJA1jjx+sgwOgxpY")
JXL = base64.b64decode("/wpBQEJxIQASiAIA1ABd5RIAABUqo4wbvJzr+fJDh8W0jesMbbVtYUmiyDg2SSdwSBJrwMbFMAMDYJg5MaSBEleSAA==")

TYPES = {"png": picture("type"), "svg": SVG, "webp": WEBP, "avif": AVIF, "ico": ico(), "jxl": JXL}
