#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# ICO files with a bitmap of 32 bits whose fourth bytes are all 0, as programs wrote them before Windows XP gave icons
# alpha, read by Pillow 13.0.0, Qt 6.12.0, pygame-ce 2.5.8 with SDL_image 2.8.12 and FFmpeg 7.0.2 (PyPI), and by
# gdk-pixbuf 2.42.10, icotool 0.32.3 and winicontopam of Netpbm 11.01.00 (Debian 12).
# Expected: a square in a transparent frame, by the mask that follows the bitmap. In a BMP the fourth byte of 32 bits
# means nothing unless a header says otherwise; in an icon it is alpha only if it is not 0 everywhere. Windows draws
# icons so, as do browsers (seen with Chromium of Debian 12) and winicontopam.
# Seen: Pillow, Qt, gdk-pixbuf, SDL_image and icotool take the zeros for alpha: the icon is there, has the right size
# and the right colours, and not one pixel that can be seen. There is no error, and icotool ends with exit code 0. The
# same picture with 24 bits, or with alpha, is right with these five. FFmpeg shows the square in a black frame: it
# knows about the zeros, but reads no mask.
# Why it matters: a launcher shows an empty place, a cache keeps an empty PNG, and a check of size and format finds
# nothing. Windows programs and sites that are old enough have such icons, and their authors see them. If alpha is 0
# everywhere, take the mask instead: the last part below does so for Pillow.
# Needs: the lists of `apt-get update`; what libgdk-pixbuf-2.0-0 depends on, which is there if it is installed;
# libpng16-16 and zlib1g; x86_64 with glibc 2.34; python3 (3.11 to 3.13) with venv. No display.
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
python/bin/pip install --quiet --disable-pip-version-check --no-cache-dir pillow==13.0.0 PySide6-Essentials==6.12.0 \
    shiboken6==6.12.0 pygame-ce==2.5.8 imageio-ffmpeg==0.6.0

# A blue square in a frame of 4 pixels, which the mask makes transparent. The same with 24 bits, and with alpha.
cat > write.py <<'PYTHON'
import struct

def bitmap(side, bits, blue, nothing):
    inside = lambda x, y: 4 <= x < side - 4 and 4 <= y < side - 4
    colours = b"".join(blue if inside(x, y) else nothing for y in range(side) for x in range(side))
    mask = b"".join(sum((not inside(x, y)) << 31 - x for x in range(side)).to_bytes(4, "big") for y in range(side))
    return struct.pack("<I2i2H6I", 40, side, side * 2, 1, bits, 0, 0, 0, 0, 0, 0) + colours + mask

for name, bits, blue, nothing in [
    ("without-alpha", 32, b"\xa0\x60\x20\0", b"\0\0\0\0"),
    ("with-alpha", 32, b"\xa0\x60\x20\xff", b"\0\0\0\0"),
    ("24-bits", 24, b"\xa0\x60\x20", b"\0\0\0"),
]:
    picture = bitmap(32, bits, blue, nothing)
    with open(name + ".ico", "wb") as file:
        file.write(struct.pack("<3H4B2H2I", 0, 1, 1, 32, 32, 0, 0, 1, bits, len(picture), 22) + picture)
PYTHON
python3 write.py

cat > look.py <<'PYTHON'
import ctypes, os, struct, subprocess, sys
os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
import imageio_ffmpeg, PIL, pygame
from PIL import Image
from PySide6.QtCore import qVersion
from PySide6.QtGui import QImage

library = ctypes.CDLL("libgdk_pixbuf-2.0.so.0")
library.gdk_pixbuf_new_from_file.restype = library.gdk_pixbuf_get_pixels.restype = ctypes.c_void_p
ffmpeg = imageio_ffmpeg.get_ffmpeg_exe()

# Each reader gives the pixels of the file, four bytes each.
def pillow(path):
    return Image.open(path).convert("RGBA").tobytes()

def qt(path):
    picture = QImage(path).convertToFormat(QImage.Format.Format_RGBA8888)
    return bytes(picture.constBits())

def gdk_pixbuf(path):
    error = ctypes.c_void_p()
    picture = ctypes.c_void_p(library.gdk_pixbuf_new_from_file(path.encode(), ctypes.byref(error)))
    channels, stride, height = (getattr(library, "gdk_pixbuf_get_" + what)(picture)
                                for what in ("n_channels", "rowstride", "height"))
    assert (channels, stride) == (4, 128)
    return ctypes.string_at(library.gdk_pixbuf_get_pixels(picture), stride * height)

def sdl_image(path):
    return pygame.image.tobytes(pygame.image.load(path).convert_alpha(), "RGBA")

def run(*command):
    return subprocess.run(command, check=True, capture_output=True).stdout

def with_ffmpeg(path):
    return run(ffmpeg, "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgba", "-")

def icotool(path):
    run("root/usr/bin/icotool", "-x", "-o", path + ".png", path)
    return pillow(path + ".png")

def winicontopam(path):
    return run("root/usr/bin/winicontopam", "-quiet", path).split(b"ENDHDR\n", 1)[1]

# What to do.
def mended(path):
    picture = Image.open(path).convert("RGBA")
    if picture.getchannel("A").getextrema() == (0, 0):
        with open(path, "rb") as file:
            data = file.read()
        length, offset = struct.unpack_from("<2I", data, 14)
        width, height = picture.size
        stride = (width + 31) // 32 * 4
        mask = data[offset + length - stride * height:offset + length]
        picture.putalpha(Image.frombytes("1", picture.size, mask, "raw", "1;I", stride, -1).convert("L"))
    return picture.tobytes()

colours = {"2060a0ff": "blue", "000000ff": "black"}

def tell(name, reader):
    seen = []
    for path in sys.argv[1:]:
        pixels = [pixel.hex() for pixel, in struct.iter_unpack("4s", reader(path + ".ico"))]
        assert len(pixels) == 32 * 32
        shown = [f"{pixels.count(pixel)} {colour}" for pixel, colour in colours.items() if pixel in pixels]
        assert all(pixel in colours or pixel.endswith("00") for pixel in pixels)
        seen.append(f"{path} {' and '.join(shown) or 'nothing'}")
    print(f"{name}: {', '.join(seen)}")

pygame.display.set_mode((1, 1))
tell("Pillow " + PIL.__version__, pillow)
tell("Qt " + qVersion(), qt)
tell("gdk-pixbuf " + ctypes.c_char_p.in_dll(library, "gdk_pixbuf_version").value.decode(), gdk_pixbuf)
tell("icotool", icotool)
tell("SDL_image " + ".".join(map(str, pygame.image.get_sdl_image_version())), sdl_image)
tell("FFmpeg " + run(ffmpeg, "-version").split()[2].decode(), with_ffmpeg)
tell("winicontopam", winicontopam)
tell("mended Pillow", mended)
PYTHON
LD_LIBRARY_PATH=$lib GDK_PIXBUF_MODULE_FILE=$work/loaders.cache SDL_VIDEODRIVER=dummy \
    python/bin/python look.py without-alpha with-alpha 24-bits > got

cat > expected <<'TEXT'
Pillow 13.0.0: without-alpha nothing, with-alpha 576 blue, 24-bits 576 blue
Qt 6.12.0: without-alpha nothing, with-alpha 576 blue, 24-bits 576 blue
gdk-pixbuf 2.42.10: without-alpha nothing, with-alpha 576 blue, 24-bits 576 blue
icotool: without-alpha nothing, with-alpha 576 blue, 24-bits 576 blue
SDL_image 2.8.12: without-alpha nothing, with-alpha 576 blue, 24-bits 576 blue
FFmpeg 7.0.2-static: without-alpha 576 blue and 448 black, with-alpha 576 blue, 24-bits 576 blue and 448 black
winicontopam: without-alpha 576 blue, with-alpha 576 blue, 24-bits 576 blue
mended Pillow: without-alpha 576 blue, with-alpha 576 blue, 24-bits 576 blue
TEXT
diff -u expected got || { echo "no longer as described" >&2; exit 1; }
cat got
echo "as described"
