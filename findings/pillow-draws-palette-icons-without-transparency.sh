#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Pillow 13.0.0 (PyPI; 12.0.0 does the same), on ICO and ICNS files that hold PNGs with a palette.
# Expected: an icon looks the same, whether its PNG is a file of its own or is in an ICO or ICNS file.
# Seen: from the plain PNG Pillow takes the transparency (the chunk tRNS); from the same bytes in an ICO or ICNS file it
# takes pixels and palette, but not tRNS, so that the background is opaque, in whatever colour the palette has there
# (black below). It is so for each kind of PNG with tRNS, with palette, grey or RGB. PNGs with an alpha channel are
# drawn right. There is no error, and `info` has no "transparency". Pillow also writes such files: an image of mode P
# that is saved as ICO is opaque when Pillow reads it. icotool keeps the transparency of both.
# Why it matters: optimizers of icons (pngquant, pngcrush, image editors) make such PNGs, and other programs draw
# them right. A tool that makes thumbnails of icons with Pillow gives them a black box. Read the PNG out of the file,
# and open that.
# Needs: the lists of `apt-get update`; libpng16-16 and zlib1g; python3 (3.11 to 3.14) with venv.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

apt-get -qq -o APT::Sandbox::User=root download icoutils=0.32.3-4
dpkg -x icoutils_*.deb root
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check --no-cache-dir pillow==13.0.0 icnsutil==1.1.0

# A blue square in a transparent frame, 128 pixels wide, as PNGs of four kinds.
cat > draw.py <<'PYTHON'
from PIL import Image

for name, mode, frame, square, options in [
    ("alpha", "RGBA", (0, 0, 0, 0), (32, 96, 160, 255), {}),
    ("palette", "P", 0, 1, {"transparency": 0}),
    ("grey", "L", 0, 96, {"transparency": 0}),
    ("colour", "RGB", (255, 0, 255), (32, 96, 160), {"transparency": (255, 0, 255)}),
]:
    picture = Image.new(mode, (128, 128), frame)
    picture.paste(square, (32, 32, 96, 96))
    if mode == "P":
        picture.putpalette([0, 0, 0, 32, 96, 160])
    picture.save(name + ".png", **options)
    if mode == "P":
        picture.save("written-by-pillow.ico", sizes=[(128, 128)], **options)
PYTHON
python/bin/python draw.py
for name in alpha palette grey colour; do
    root/usr/bin/icotool -c -o $name.ico -r $name.png
    cp $name.png 128x128.png
    python/bin/icnsutil compose $name.icns 128x128.png > log
done

cat > look.py <<'PYTHON'
import subprocess
import PIL
from PIL import Image

def frame(picture):
    return picture.convert("RGBA").getpixel((5, 5))

print("Pillow", PIL.__version__)
for name in "alpha", "palette", "grey", "colour":
    print(f"{name}:", *(f"{end} {frame(Image.open(f'{name}.{end}'))}" for end in ("png", "ico", "icns")))
subprocess.run(["root/usr/bin/icotool", "-x", "-o", "out.png", "palette.ico"], check=True)
print("palette: extracted from the ICO file by icotool", frame(Image.open("out.png")))
written = Image.open("written-by-pillow.ico")
written.load()
print("written and read by Pillow:", written.mode, frame(written), written.info.get("transparency"))
subprocess.run(["root/usr/bin/icotool", "-x", "-o", "out.png", "written-by-pillow.ico"], check=True)
print("written by Pillow, extracted by icotool:", frame(Image.open("out.png")))
PYTHON
python/bin/python look.py > got

cat > expected <<'TEXT'
Pillow 13.0.0
alpha: png (0, 0, 0, 0) ico (0, 0, 0, 0) icns (0, 0, 0, 0)
palette: png (0, 0, 0, 0) ico (0, 0, 0, 255) icns (0, 0, 0, 255)
grey: png (0, 0, 0, 0) ico (0, 0, 0, 255) icns (0, 0, 0, 255)
colour: png (255, 0, 255, 0) ico (255, 0, 255, 255) icns (255, 0, 255, 255)
palette: extracted from the ICO file by icotool (0, 0, 0, 0)
written and read by Pillow: P (0, 0, 0, 255) None
written by Pillow, extracted by icotool: (0, 0, 0, 0)
TEXT
diff -u expected got || { echo "no longer as described" >&2; exit 1; }
cat got
echo "as described"
