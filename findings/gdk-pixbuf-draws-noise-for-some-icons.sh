#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# gdk-pixbuf 2.42.10 (Debian 12; 2.42.12 of Debian 13 does the same), on files that icotool 0.32.3 wrote.
# Expected: from an ICO file with bitmaps and a PNG it loads the largest picture, or the largest bitmap.
# Seen: if the PNG comes after the bitmaps, as in most files, and is larger than they are, it reads the bytes of
# the PNG as the pixels of the largest bitmap: the picture is noise, and there is no error. With the PNG first,
# it loads the largest bitmap.
# Why it matters: icons of Windows programs are such files, with a PNG of 256 pixels at the end. File managers,
# thumbnailers and launchers with GTK show noise for them. Convert the icon, or put the PNG first.
# Needs: the lists of `apt-get update`; python3; what libgdk-pixbuf-2.0-0 depends on, which is there if it is installed.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

apt-get -qq -o APT::Sandbox::User=root download libgdk-pixbuf-2.0-0=2.42.10+dfsg-1+deb12u4 icoutils=0.32.3-4
for package in *.deb; do dpkg -x "$package" root; done
lib=$(echo "$work"/root/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH=$lib
"$lib"/gdk-pixbuf-2.0/gdk-pixbuf-query-loaders "$lib"/gdk-pixbuf-2.0/2.10.0/loaders/*-ico.so > loaders.cache
export GDK_PIXBUF_MODULE_FILE=$work/loaders.cache

# Small pictures of one colour, and a large one of many.
python3 - <<'PYTHON'
import random, struct, zlib

def chunk(name, content):
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

chance = random.Random(1)
for side in 16, 32, 48, 256:
    pixel = lambda: b"\x20\x60\xa0\xff" if side < 256 else chance.randbytes(3) + b"\xff"
    rows = b"".join(b"\0" + b"".join(pixel() for _ in range(side)) for _ in range(side))
    with open(f"{side}.png", "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 6, 0, 0, 0))
                   + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
PYTHON

root/usr/bin/icotool -c -b 32 -o png-last.ico 16.png 32.png 48.png -r 256.png
root/usr/bin/icotool -c -b 32 -o png-first.ico -r 256.png 16.png 32.png 48.png
root/usr/bin/icotool -c -b 32 -o no-png.ico 16.png 32.png 48.png

python3 - > got <<'PYTHON'
import ctypes

library = ctypes.CDLL("libgdk_pixbuf-2.0.so.0")
library.gdk_pixbuf_new_from_file.restype = library.gdk_pixbuf_get_pixels.restype = ctypes.c_void_p
for name in "no-png", "png-first", "png-last":
    error = ctypes.c_void_p()
    picture = library.gdk_pixbuf_new_from_file(f"{name}.ico".encode(), ctypes.byref(error))
    if not picture:
        print(f"{name}: error")
        continue
    picture = ctypes.c_void_p(picture)
    width, height, stride = (getattr(library, "gdk_pixbuf_get_" + what)(picture)
                             for what in ("width", "height", "rowstride"))
    pixels = ctypes.string_at(library.gdk_pixbuf_get_pixels(picture), stride * height)
    colours = {pixels[y * stride + x * 4:][:4] for y in range(height) for x in range(width)}
    is_right = colours == {b"\x20\x60\xa0\xff"}
    print(f"{name}: {width} x {height}, {'its colour' if is_right else 'other colours'}")
PYTHON

cat > expected <<'TEXT'
no-png: 48 x 48, its colour
png-first: 48 x 48, its colour
png-last: 48 x 48, other colours
TEXT
diff -u expected got || { echo "no longer as described" >&2; exit 1; }
cat got
echo "as described"
