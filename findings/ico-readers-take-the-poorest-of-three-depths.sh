#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# ICO files that have each size with 4, 8 and 32 bits, written by icotool 0.32.3, read by Pillow 13.0.0 and pygame-ce
# 2.5.8 with SDL_image 2.8.12 (PyPI), gdk-pixbuf 2.42.10 and winicontopam of Netpbm 11.01.00 (Debian 12).
# Expected: of pictures of one size, the one with the most bits, in whatever order the file has them. Windows takes the
# one that suits the display, Pillow 10.1.0 took that of 32 bits, and so does winicontopam.
# Seen: Pillow, since 10.2.0, takes the one with the fewest bits, in any order, also for a smaller size: the icon has 16
# colours and hard edges. Its documentation only says that it loads the largest. SDL_image takes the first of those with
# 8 and 32 bits, and gdk-pixbuf the last: the directory has the number of colours in one byte, and for both it is 0. So
# there is no order that is right for both of them: one always shows 256 colours. There is no error in any case.
# Why it matters: guidelines of Microsoft for Windows XP ask for each size in these three depths, and icons of programs
# of that time have them. A thumbnail or a PNG that is made of such an icon looks as on a display of 16 or 256 colours,
# and a test with icons of one depth sees nothing. If you distribute an icon, keep only the pictures of 32 bits, as
# below with icotool: all of these readers are right then. For an icon of others, ask Pillow for
# `icon.ico.getimage(size, bpp=32)`.
# Needs: the lists of `apt-get update`; what libgdk-pixbuf-2.0-0 depends on, which is there if it is installed;
# libpng16-16 and zlib1g; x86_64; python3 (3.11 or 3.12) with venv. No display.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

apt-get -qq -o APT::Sandbox::User=root download libgdk-pixbuf-2.0-0=2.42.10+dfsg-1+deb12u4 icoutils=0.32.3-4 \
    netpbm=2:11.01.00-2 libnetpbm11=2:11.01.00-2
for package in *.deb; do dpkg -x "$package" root; done
lib=$(echo "$work"/root/usr/lib/*-linux-gnu)
"$lib"/gdk-pixbuf-2.0/gdk-pixbuf-query-loaders "$lib"/gdk-pixbuf-2.0/2.10.0/loaders/*-ico.so > loaders.cache
python3 -m venv python
pip() { python/bin/pip install --quiet --disable-pip-version-check --no-cache-dir "$@"; }
pip pygame-ce==2.5.8
pip --target pillow-10.1.0 pillow==10.1.0
pip --target pillow-10.2.0 pillow==10.2.0
pip --target pillow-13.0.0 pillow==13.0.0

# A run of colours, without transparency: 9 of them for 4 bits, 36 for 8 bits, and one for each pixel for 32 bits.
cat > draw.py <<'PYTHON'
import struct, zlib

def chunk(name, content):
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

for side in 16, 48:
    for bits, steps in (4, 3), (8, 6), (32, side):
        level = lambda at: at * steps // side * 240 // steps
        rows = b"".join(b"\0" + b"".join(bytes((level(x), level(y), 128, 255)) for x in range(side))
                        for y in range(side))
        with open(f"{side}-{bits}.png", "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 6, 0, 0, 0))
                       + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
PYTHON
python3 draw.py

orders="4-8-32 4-32-8 8-4-32 8-32-4 32-4-8 32-8-4"
for order in $orders; do
    pictures=()
    for side in 48 16; do
        for bits in ${order//-/ }; do pictures+=(-b "$bits" "$side-$bits.png"); done
    done
    root/usr/bin/icotool -c -o "$order.ico" "${pictures[@]}"
done
# What to do: keep only the pictures of 32 bits.
root/usr/bin/icotool -x --bit-depth=32 -o . 4-8-32.ico
root/usr/bin/icotool -c -b 32 4-8-32_*_48x48x32.png -b 32 4-8-32_*_16x16x32.png -o only-32.ico
for name in $orders only-32; do
    LD_LIBRARY_PATH=$lib root/usr/bin/winicontopam -quiet "$name.ico" > "$name.pam"
done

# Each reader tells which picture it shows: its side, and its depth by the number of colours.
cat > pillow.py <<'PYTHON'
import sys
import PIL
from PIL import Image

def tell(picture):
    count = len(picture.convert("RGB").getcolors(picture.width * picture.height))
    return f"{picture.width}/{4 if count < 16 else 8 if count < 100 else 32}"

def read(name):
    picture = Image.open(name + ".ico")
    largest = tell(picture)
    picture.size = 16, 16
    return f"{largest}, smaller {tell(picture)}, asked for {tell(picture.ico.getimage((48, 48), bpp=32))}"

*orders, best = sys.argv[1:]
print(f"Pillow {PIL.__version__}, any order:", *{read(order) for order in orders})
print(f"Pillow {PIL.__version__}, {best}:", read(best))
PYTHON
cat > others.py <<'PYTHON'
import ctypes, os, sys

os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
import pygame

library = ctypes.CDLL("libgdk_pixbuf-2.0.so.0")
library.gdk_pixbuf_new_from_file.restype = library.gdk_pixbuf_get_pixels.restype = ctypes.c_void_p
version = ctypes.c_char_p.in_dll(library, "gdk_pixbuf_version")

def tell(side, pixels):
    count = len(pixels)
    return f"{side}/{4 if count < 16 else 8 if count < 100 else 32}"

def gdk_pixbuf(path):
    error = ctypes.c_void_p()
    picture = ctypes.c_void_p(library.gdk_pixbuf_new_from_file(path.encode(), ctypes.byref(error)))
    side, stride, channels = (getattr(library, "gdk_pixbuf_get_" + what)(picture)
                              for what in ("width", "rowstride", "n_channels"))
    pixels = ctypes.string_at(library.gdk_pixbuf_get_pixels(picture), stride * (side - 1) + channels * side)
    return tell(side, {pixels[y * stride + x * channels:][:3] for y in range(side) for x in range(side)})

def sdl_image(path):
    picture = pygame.image.load(path)
    side = picture.get_width()
    return tell(side, {tuple(picture.get_at((x, y)))[:3] for y in range(side) for x in range(side)})

def netpbm(path):
    with open(path, "rb") as file:
        head, pixels = file.read().split(b"ENDHDR\n", 1)
    words = head.split()
    side, depth = (int(words[words.index(word) + 1]) for word in (b"WIDTH", b"DEPTH"))
    return tell(side, {pixels[at:at + 3] for at in range(0, side * side * depth, depth)})

print("SDL_image", ".".join(map(str, pygame.image.get_sdl_image_version())), "and gdk-pixbuf", version.value.decode())
for name in sys.argv[1:]:
    print(f"{name}: SDL_image {sdl_image(name + '.ico')}, gdk-pixbuf {gdk_pixbuf(name + '.ico')},",
          f"winicontopam {netpbm(name + '.pam')}")
PYTHON
{
    for version in 10.1.0 10.2.0 13.0.0; do
        PYTHONPATH=$work/pillow-$version python/bin/python pillow.py $orders only-32
    done
    LD_LIBRARY_PATH=$lib GDK_PIXBUF_MODULE_FILE=$work/loaders.cache python/bin/python others.py $orders only-32
} > got

cat > expected <<'TEXT'
Pillow 10.1.0, any order: 48/32, smaller 16/32, asked for 48/32
Pillow 10.1.0, only-32: 48/32, smaller 16/32, asked for 48/32
Pillow 10.2.0, any order: 48/4, smaller 16/4, asked for 48/32
Pillow 10.2.0, only-32: 48/32, smaller 16/32, asked for 48/32
Pillow 13.0.0, any order: 48/4, smaller 16/4, asked for 48/32
Pillow 13.0.0, only-32: 48/32, smaller 16/32, asked for 48/32
SDL_image 2.8.12 and gdk-pixbuf 2.42.10
4-8-32: SDL_image 48/8, gdk-pixbuf 48/32, winicontopam 48/32
4-32-8: SDL_image 48/32, gdk-pixbuf 48/8, winicontopam 48/32
8-4-32: SDL_image 48/8, gdk-pixbuf 48/32, winicontopam 48/32
8-32-4: SDL_image 48/8, gdk-pixbuf 48/32, winicontopam 48/32
32-4-8: SDL_image 48/32, gdk-pixbuf 48/8, winicontopam 48/32
32-8-4: SDL_image 48/32, gdk-pixbuf 48/8, winicontopam 48/32
only-32: SDL_image 48/32, gdk-pixbuf 48/32, winicontopam 48/32
TEXT
diff -u expected got || { echo "no longer as described" >&2; exit 1; }
cat got
echo "as described"
