#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# ICO files with bitmaps of 32 bits that Pillow 13.0.0 (`bitmap_format="bmp"`) and FFmpeg 7.0.2 wrote (PyPI: pillow
# 13.0.0, imageio-ffmpeg 0.6.0), read by pygame 2.6.1 with SDL_image 2.0.5, by pygame-ce 2.5.8 with SDL_image 2.8.12
# (PyPI), and by icotool 0.32.3.
# Expected: the pictures that were saved. In an ICO file, the mask follows the bitmap, in rows of whole 32 bits; that is
# why the bitmap's header tells twice the height. So it is with 32 bits, too.
# Seen: Pillow tells twice the height, and writes no mask. FFmpeg's mask is 54 bytes too short for 48 pixels, 18 for 16,
# and 56 too long for 64. Programs that go by alpha alone see nothing of it, and Pillow reads its own file right.
# Others:
# - SDL_image always reads a mask. If the file has no more pictures, it comes to the end: "Error reading from ICO". If
#   it has, the next picture is taken for the rest of the mask. With pygame, whose SDL_image lets the mask overrule
#   alpha, the transparent frame becomes opaque, as it does of FFmpeg's mask, which is empty; with pygame-ce the picture
#   gets holes.
# - icotool refuses all files of both, those of FFmpeg also for 64 pixels.
# Why it matters: bitmaps are written for programs that do not read PNGs in ICO files, as SDL_image and gdk-pixbuf do
# not, and it is such programs that need the mask. A launcher with pygame has no icon, or one with a box around it.
# Pillow's change 5513 gives the reason that 32 bits need no mask. Write such files with icotool or ImageMagick.
# Needs: the lists of `apt-get update`; libpng16-16 and zlib1g; x86_64 with glibc 2.17; python3 (3.11 to
# 3.13) with venv. No display.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

apt-get -qq -o APT::Sandbox::User=root download icoutils=0.32.3-4
dpkg -x icoutils_*.deb root
python3 -m venv python
pip() { python/bin/pip install --quiet --disable-pip-version-check --no-cache-dir "$@"; }
pip pillow==13.0.0 imageio-ffmpeg==0.6.0
# Both have the module pygame.
pip --target pygame pygame==2.6.1
pip --target pygame-ce pygame-ce==2.5.8

# An opaque square in a transparent frame, a quarter of the side wide.
cat > write.py <<'PYTHON'
import struct, subprocess
import imageio_ffmpeg, PIL
from PIL import Image

def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout

pictures = {}
for side in 16, 48, 64:
    pictures[side] = Image.new("RGBA", (side, side))
    pictures[side].paste((32, 96, 160), (side // 4, side // 4, side * 3 // 4, side * 3 // 4))
    pictures[side].save(f"{side}.png")

ffmpeg = imageio_ffmpeg.get_ffmpeg_exe()
print("Pillow", PIL.__version__ + ",", *run(ffmpeg, "-version").split()[:3])
for name, sides in ("48", [48]), ("64", [64]), ("16-48", [16, 48]):
    pictures[sides[-1]].save(f"pillow-{name}.ico", bitmap_format="bmp", sizes=[(side, side) for side in sides],
                             append_images=[pictures[side] for side in sides])
    inputs = [word for side in sides for word in ("-i", f"{side}.png")]
    maps = [word for index in range(len(sides)) for word in ("-map", str(index))]
    run(ffmpeg, "-v", "error", *inputs, *maps, "-c:v", "bmp", "-pix_fmt", "bgra", f"ffmpeg-{name}.ico")
    files = [f"{side}.png" for side in sides]
    run("root/usr/bin/icotool", "-c", "-b", "32", "-o", f"icotool-{name}.ico", *files)
    for writer in "pillow", "ffmpeg", "icotool":
        with open(f"{writer}-{name}.ico", "rb") as file:
            data = file.read()
        for index, side in enumerate(sides):
            length, offset = struct.unpack_from("<2I", data, 6 + 16 * index + 8)
            height, = struct.unpack_from("<i", data, offset + 8)
            print(f"{writer}-{name}: {side} x {side}, height {height}, {length - 40 - side * side * 4} bytes of mask,",
                  f"{(side + 31) // 32 * 4 * side} needed")
PYTHON
python/bin/python write.py > got

cat > read.py <<'PYTHON'
import os, sys
os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
import pygame

version = ".".join(map(str, pygame.image.get_sdl_image_version()))
for name in sys.argv[2:]:
    try:
        picture = pygame.image.load(name + ".ico")
    except pygame.error as error:
        print(f"{sys.argv[1]} {pygame.version.ver}, SDL_image {version}: {name}: {error}")
        continue
    side = picture.get_width()
    square = range(side // 4, side * 3 // 4)
    opaque = {(x, y) for x in range(side) for y in range(side) if picture.get_at((x, y))[3] > 0}
    inside = {(x, y) for x in square for y in square}
    print(f"{sys.argv[1]} {pygame.version.ver}, SDL_image {version}: {name}: {side} x {side},",
          f"{len(opaque - inside)} of {side * side - len(inside)} opaque in the frame,",
          f"{len(inside - opaque)} holes in the square")
PYTHON
files=(pillow-48 pillow-64 pillow-16-48 ffmpeg-48 ffmpeg-64 ffmpeg-16-48 icotool-48 icotool-64 icotool-16-48)
for reader in pygame pygame-ce; do
    PYTHONPATH=$work/$reader SDL_VIDEODRIVER=dummy python/bin/python read.py $reader "${files[@]}" >> got
done
for file in "${files[@]}"; do
    mkdir "out-$file"
    root/usr/bin/icotool -x -o "out-$file" "$file.ico" 2> log && code=0 || code=$?
    why=$(sed -n 's/.*\(incorrect .*\)/, \1/p' log)
    echo "icotool: $file: exit $code, $(ls "out-$file" | wc -l) pictures$why" >> got
done

cat > expected <<'TEXT'
Pillow 13.0.0, ffmpeg version 7.0.2-static
pillow-48: 48 x 48, height 96, 0 bytes of mask, 384 needed
ffmpeg-48: 48 x 48, height 96, 330 bytes of mask, 384 needed
icotool-48: 48 x 48, height 96, 384 bytes of mask, 384 needed
pillow-64: 64 x 64, height 128, 0 bytes of mask, 512 needed
ffmpeg-64: 64 x 64, height 128, 568 bytes of mask, 512 needed
icotool-64: 64 x 64, height 128, 512 bytes of mask, 512 needed
pillow-16-48: 16 x 16, height 32, 0 bytes of mask, 64 needed
pillow-16-48: 48 x 48, height 96, 0 bytes of mask, 384 needed
ffmpeg-16-48: 16 x 16, height 32, 46 bytes of mask, 64 needed
ffmpeg-16-48: 48 x 48, height 96, 330 bytes of mask, 384 needed
icotool-16-48: 16 x 16, height 32, 64 bytes of mask, 64 needed
icotool-16-48: 48 x 48, height 96, 384 bytes of mask, 384 needed
pygame 2.6.1, SDL_image 2.0.5: pillow-48: Error reading from ICO
pygame 2.6.1, SDL_image 2.0.5: pillow-64: Error reading from ICO
pygame 2.6.1, SDL_image 2.0.5: pillow-16-48: 16 x 16, 174 of 192 opaque in the frame, 0 holes in the square
pygame 2.6.1, SDL_image 2.0.5: ffmpeg-48: Error reading from ICO
pygame 2.6.1, SDL_image 2.0.5: ffmpeg-64: 64 x 64, 3072 of 3072 opaque in the frame, 0 holes in the square
pygame 2.6.1, SDL_image 2.0.5: ffmpeg-16-48: 16 x 16, 191 of 192 opaque in the frame, 0 holes in the square
pygame 2.6.1, SDL_image 2.0.5: icotool-48: 48 x 48, 0 of 1728 opaque in the frame, 0 holes in the square
pygame 2.6.1, SDL_image 2.0.5: icotool-64: 64 x 64, 0 of 3072 opaque in the frame, 0 holes in the square
pygame 2.6.1, SDL_image 2.0.5: icotool-16-48: 16 x 16, 0 of 192 opaque in the frame, 0 holes in the square
pygame-ce 2.5.8, SDL_image 2.8.12: pillow-48: Error reading from ICO
pygame-ce 2.5.8, SDL_image 2.8.12: pillow-64: Error reading from ICO
pygame-ce 2.5.8, SDL_image 2.8.12: pillow-16-48: 16 x 16, 0 of 192 opaque in the frame, 3 holes in the square
pygame-ce 2.5.8, SDL_image 2.8.12: ffmpeg-48: Error reading from ICO
pygame-ce 2.5.8, SDL_image 2.8.12: ffmpeg-64: 64 x 64, 0 of 3072 opaque in the frame, 0 holes in the square
pygame-ce 2.5.8, SDL_image 2.8.12: ffmpeg-16-48: 16 x 16, 0 of 192 opaque in the frame, 0 holes in the square
pygame-ce 2.5.8, SDL_image 2.8.12: icotool-48: 48 x 48, 0 of 1728 opaque in the frame, 0 holes in the square
pygame-ce 2.5.8, SDL_image 2.8.12: icotool-64: 64 x 64, 0 of 3072 opaque in the frame, 0 holes in the square
pygame-ce 2.5.8, SDL_image 2.8.12: icotool-16-48: 16 x 16, 0 of 192 opaque in the frame, 0 holes in the square
icotool: pillow-48: exit 1, 0 pictures, incorrect total size of bitmap (9256 specified; 9640 real)
icotool: pillow-64: exit 1, 0 pictures, incorrect total size of bitmap (16424 specified; 16936 real)
icotool: pillow-16-48: exit 1, 0 pictures, incorrect total size of bitmap (1064 specified; 1128 real)
icotool: ffmpeg-48: exit 1, 0 pictures, incorrect total size of bitmap (9586 specified; 9640 real)
icotool: ffmpeg-64: exit 1, 0 pictures, incorrect total size of bitmap (16992 specified; 16936 real)
icotool: ffmpeg-16-48: exit 1, 0 pictures, incorrect total size of bitmap (1110 specified; 1128 real)
icotool: icotool-48: exit 0, 1 pictures
icotool: icotool-64: exit 0, 1 pictures
icotool: icotool-16-48: exit 0, 2 pictures
TEXT
diff -u expected got || { echo "no longer as described" >&2; exit 1; }
cat got
echo "as described"
