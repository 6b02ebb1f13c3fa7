#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# gdk-pixbuf 2.42.10 (Debian 12; 2.42.12 of Debian 13 does the same), on ICO files that icotool 0.32.3 wrote.
# Expected: a bitmap of two colours is drawn in the two colours of its colour table, like one of 16 colours.
# Seen: of a bitmap of one bit the colour table is not used: the first colour is drawn black and the second white,
# whatever they are. A blue mark on white turns into a white mark on black, and a blue mark on nothing into a white one,
# which nobody sees on a light panel. The transparency is right, there is no error, and only black before white looks
# as it should. With 4, 8, 24 or 32 bits the same picture is drawn in its colours; icotool itself reads all of them.
# Why it matters: plain marks and letters make icons of two colours, and for those icotool chooses one bit by itself.
# File managers, thumbnailers and launchers with GTK show another picture than other programs do, and a PNG that is made
# of it with gdk-pixbuf stays wrong. Give icotool `-b 4` or more, or put the PNG itself into the ICO file with `-r`.
# Needs: the lists of `apt-get update`; python3; libpng16-16 and zlib1g; what libgdk-pixbuf-2.0-0 depends on, which is
# there if it is installed.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

apt-get -qq -o APT::Sandbox::User=root download libgdk-pixbuf-2.0-0=2.42.10+dfsg-1+deb12u4 icoutils=0.32.3-4
for package in *.deb; do dpkg -x "$package" root; done
lib=$(echo "$work"/root/usr/lib/*-linux-gnu)
"$lib"/gdk-pixbuf-2.0/gdk-pixbuf-query-loaders "$lib"/gdk-pixbuf-2.0/2.10.0/loaders/*-ico.so > loaders.cache

# A square of 8 pixels in a frame, as PNG: what to draw it with, and with how many bits.
cat > draw.py <<'PYTHON'
import struct, sys, zlib

def chunk(name, content):
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

nothing, black, white = b"\0\0\0\0", b"\0\0\0\xff", b"\xff\xff\xff\xff"
blue, yellow = b"\x20\x60\xa0\xff", b"\xf0\xd0\x20\xff"
for name, frame, square in [
    ("white-on-black", black, white), ("black-on-white", white, black), ("blue-on-white", white, blue),
    ("yellow-on-blue", blue, yellow), ("blue-on-nothing", nothing, blue),
]:
    rows = b"".join(b"\0" + b"".join(square if 4 <= x < 12 and 4 <= y < 12 else frame for x in range(16))
                    for y in range(16))
    with open(name + ".png", "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 16, 16, 8, 6, 0, 0, 0))
                   + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
PYTHON
python3 draw.py

pictures="white-on-black black-on-white blue-on-white yellow-on-blue blue-on-nothing"
for name in $pictures; do
    root/usr/bin/icotool -c -o $name.chosen.ico $name.png
    for bits in 1 4 8 24 32; do
        root/usr/bin/icotool -c -b $bits -o $name.$bits.ico $name.png
    done
    cmp $name.chosen.ico $name.1.ico
    root/usr/bin/icotool -x -o $name.out.png $name.1.ico
done

cat > look.py <<'PYTHON'
import ctypes, sys

library = ctypes.CDLL("libgdk_pixbuf-2.0.so.0")
library.gdk_pixbuf_new_from_file.restype = library.gdk_pixbuf_get_pixels.restype = ctypes.c_void_p
names = {"000000": "black", "ffffff": "white", "2060a0": "blue", "f0d020": "yellow"}

def look(path):
    error = ctypes.c_void_p()
    picture = library.gdk_pixbuf_new_from_file(path.encode(), ctypes.byref(error))
    if not picture:
        return "error"
    picture = ctypes.c_void_p(picture)
    stride, channels = (getattr(library, "gdk_pixbuf_get_" + what)(picture) for what in ("rowstride", "n_channels"))
    pixels = ctypes.string_at(library.gdk_pixbuf_get_pixels(picture), stride * 15 + channels * 16)

    def colour(x, y):
        pixel = pixels[y * stride + x * channels:][:channels]
        return "nothing" if pixel[3:] == b"\0" else names.get(pixel[:3].hex(), pixel.hex())

    return f"{colour(8, 8)} on {colour(1, 1)}"

for name in sys.argv[1:]:
    seen = {bits: look(f"{name}.{bits}.ico") for bits in (1, 4, 8, 24, 32)}
    assert seen[4] == seen[8] == seen[24] == seen[32], seen
    print(f"{name}: {seen[1]}; of 4 to 32 bits: {seen[4]}; extracted by icotool: {look(name + '.out.png')}")
PYTHON
# The loader of PNG is part of the library.
LD_LIBRARY_PATH=$lib GDK_PIXBUF_MODULE_FILE=$work/loaders.cache python3 look.py $pictures > got

cat > expected <<'TEXT'
white-on-black: white on black; of 4 to 32 bits: white on black; extracted by icotool: white on black
black-on-white: black on white; of 4 to 32 bits: black on white; extracted by icotool: black on white
blue-on-white: white on black; of 4 to 32 bits: blue on white; extracted by icotool: blue on white
yellow-on-blue: black on white; of 4 to 32 bits: yellow on blue; extracted by icotool: yellow on blue
blue-on-nothing: white on nothing; of 4 to 32 bits: blue on nothing; extracted by icotool: blue on nothing
TEXT
diff -u expected got || { echo "no longer as described" >&2; exit 1; }
cat got
echo "as described"
