#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# gdk-pixbuf 2.42.10 (Debian 12; 2.42.12 of Debian 13 does the same) and SDL_image 2.8.12 (pygame-ce 2.5.8, PyPI), on
# TIFF files with an alpha channel, of both kinds: associated (the colours are stored multiplied by alpha) and
# unassociated (they are stored as they are).
# Expected: a white pixel of half opacity stays white on white, whichever kind the file is of, as from a PNG.
# Seen: both take the pixels from libtiff's RGBA reader, which gives colours that are multiplied by alpha, whatever the
# file has, and hand them out as if they were not. Whoever draws them multiplies again: white of half opacity becomes
# grey (128) of half opacity, and on white light grey (191); of a quarter it is drawn as 207. Pixels that are opaque or
# empty are right, so that only soft edges differ. Files with 16 bits and with planes do the same; of the files with
# grey only that with unassociated alpha is right. libvips (pyvips) draws all of them white, and so does Pillow, but for
# grey with associated alpha, which it refuses.
# Why it matters: TIFF is the format of the icons of GNUstep and NeXT programs. With a light edge or a glow they get a
# dark line around them in file managers and launchers with GTK, and a PNG that gdk-pixbuf makes of them has it for
# good. Convert TIFF icons to PNG with Pillow or libvips.
# Needs: the lists of `apt-get update`; what libgdk-pixbuf-2.0-0 depends on, which is there if it is installed; python3
# (3.10 to 3.14) with venv.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

apt-get -qq -o APT::Sandbox::User=root download libgdk-pixbuf-2.0-0=2.42.10+dfsg-1+deb12u4
dpkg -x libgdk-pixbuf-2.0-0_*.deb root
lib=$(echo "$work"/root/usr/lib/*-linux-gnu)
"$lib"/gdk-pixbuf-2.0/gdk-pixbuf-query-loaders "$lib"/gdk-pixbuf-2.0/2.10.0/loaders/*-tiff.so > loaders.cache
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check --no-cache-dir pygame-ce==2.5.8 pillow==13.0.0 \
    pyvips==3.2.0 pyvips-binary==8.18.7

# Three columns of white: opaque, of half opacity, and of a quarter.
cat > draw.py <<'PYTHON'
import struct
from PIL import Image

side = 12

def write(name, kind, channels, bits=8, planar=False):
    samples = []
    for x in range(side):
        alpha = (255, 128, 64)[x * 3 // side]
        samples.append([alpha if kind == "associated" else 255] * (channels - 1) + [alpha])
    row = [value for pixel in samples for value in pixel]
    if planar:
        data = b"".join(bytes(pixel[channel] for pixel in samples) * side for channel in range(channels))
    else:
        data = b"".join(bytes([value] * (bits // 8)) for value in row) * side
    strips = channels if planar else 1
    tags = [
        (256, 3, [side]), (257, 3, [side]), (258, 3, [bits] * channels), (259, 3, [1]),
        (262, 3, [2 if channels == 4 else 1]), (273, 4, [8 + i * len(data) // strips for i in range(strips)]),
        (277, 3, [channels]), (278, 3, [side]), (279, 4, [len(data) // strips] * strips),
        (284, 3, [2 if planar else 1]), (338, 3, [1 if kind == "associated" else 2]),
    ]
    directory, rest = struct.pack("<H", len(tags)), b""
    start = 8 + len(data) + 2 + 12 * len(tags) + 4
    for tag, kind_of, values in tags:
        content = struct.pack(f"<{len(values)}{'H' if kind_of == 3 else 'I'}", *values)
        if len(content) > 4:
            rest, content = rest + content, struct.pack("<I", start + len(rest))
        directory += struct.pack("<HHI", tag, kind_of, len(values)) + content.ljust(4, b"\0")
    with open(name + ".tiff", "wb") as file:
        file.write(struct.pack("<2sHI", b"II", 42, 8 + len(data)) + data + directory + b"\0\0\0\0" + rest)

for kind in "associated", "unassociated":
    write(kind, kind, 4)
    write(kind + "-16-bits", kind, 4, bits=16)
    write(kind + "-grey", kind, 2)
write("unassociated-planes", "unassociated", 4, planar=True)
picture = Image.new("RGBA", (side, side))
for x in range(side):
    picture.paste((255, 255, 255, (255, 128, 64)[x * 3 // side]), (x, 0, x + 1, side))
picture.save("written-by-pillow.tiff")
PYTHON
python/bin/python draw.py

# How dark each of the columns is on white, drawn by the library itself where it can draw.
cat > look.py <<'PYTHON'
import ctypes, os, sys
os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
import PIL, pygame, pyvips
from PIL import Image

library = ctypes.CDLL(sys.argv[1] + "/libgdk_pixbuf-2.0.so.0")
for name in "new_from_file", "get_pixels", "composite_color_simple":
    getattr(library, "gdk_pixbuf_" + name).restype = ctypes.c_void_p
columns = 2, 6, 10

def with_gdk_pixbuf(path):
    picture = ctypes.c_void_p(library.gdk_pixbuf_new_from_file(path.encode(), ctypes.byref(ctypes.c_void_p())))
    drawn = ctypes.c_void_p(library.gdk_pixbuf_composite_color_simple(picture, 12, 12, 0, 255, 8, 0xffffff, 0xffffff))
    channels = library.gdk_pixbuf_get_n_channels(drawn)
    pixels = ctypes.string_at(library.gdk_pixbuf_get_pixels(drawn), 12 * channels)
    return [pixels[x * channels] for x in columns]

def with_sdl(path):
    ground = pygame.Surface((12, 12))
    ground.fill("white")
    ground.blit(pygame.image.load(path), (0, 0))
    return [ground.get_at((x, 0))[0] for x in columns]

def with_pillow(path):
    picture = Image.open(path).convert("RGBA")
    return [Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture).getpixel((x, 0))[0]
            for x in columns]

def with_vips(path):
    picture = pyvips.Image.new_from_file(path).colourspace("srgb").cast("uchar")
    drawn = picture.flatten(background=[255, 255, 255])
    return [int(drawn(x, 0)[0]) for x in columns]

print("pygame-ce", pygame.ver, "SDL_image", *pygame.image.get_sdl_image_version())
print("Pillow", PIL.__version__, "libvips", *(pyvips.version(i) for i in range(3)))
for name in sys.argv[2:]:
    readers = {"gdk-pixbuf": with_gdk_pixbuf, "SDL_image": with_sdl, "Pillow": with_pillow, "libvips": with_vips}
    if name == "associated-grey":
        del readers["Pillow"]  # it refuses the file
    print(f"{name}:", ", ".join(f"{reader} {' '.join(map(str, look(name + '.tiff')))}"
                                for reader, look in readers.items()))
PYTHON
LD_LIBRARY_PATH=$lib GDK_PIXBUF_MODULE_FILE=$work/loaders.cache python/bin/python look.py "$lib" \
    unassociated associated unassociated-16-bits associated-16-bits unassociated-planes unassociated-grey \
    associated-grey written-by-pillow > got

cat > expected <<'TEXT'
pygame-ce 2.5.8 SDL_image 2 8 12
Pillow 13.0.0 libvips 8 18 7
unassociated: gdk-pixbuf 255 191 207, SDL_image 255 192 207, Pillow 255 255 255, libvips 255 255 255
associated: gdk-pixbuf 255 191 207, SDL_image 255 192 207, Pillow 255 255 255, libvips 255 255 255
unassociated-16-bits: gdk-pixbuf 255 191 207, SDL_image 255 192 207, Pillow 255 255 255, libvips 255 255 255
associated-16-bits: gdk-pixbuf 255 191 207, SDL_image 255 192 207, Pillow 255 255 255, libvips 255 255 255
unassociated-planes: gdk-pixbuf 255 191 207, SDL_image 255 192 207, Pillow 255 255 255, libvips 255 255 255
unassociated-grey: gdk-pixbuf 255 255 255, SDL_image 255 255 255, Pillow 255 255 255, libvips 255 255 255
associated-grey: gdk-pixbuf 255 191 207, SDL_image 255 192 207, libvips 255 255 255
written-by-pillow: gdk-pixbuf 255 191 207, SDL_image 255 192 207, Pillow 255 255 255, libvips 255 255 255
TEXT
diff -u expected got || { echo "no longer as described" >&2; exit 1; }
cat got
echo "as described"
