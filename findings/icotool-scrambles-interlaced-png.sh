#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# icotool 0.32.3 (Debian 12: icoutils 0.32.3-4) on PNG files that optipng 0.7.7 (Debian 12) has interlaced, and on the
# same files without; what it writes is read with Pillow 13.0.0 (PyPI).
# Expected: the same icon. Interlacing (Adam7) is only another order of the pixels in the file (PNG specification, 8),
# and libpng, which icotool uses, undoes it for a program that asks for it. icotool's manual page says of its input only
# that it is PNG.
# Seen: icotool takes the rows of the passes, which have an eighth, a quarter or half of the pixels of a row, for the
# rows of the picture: the icon has a part of its pixels, pushed to the left and out of order, and the rest is empty.
# This is so for full colours, for a palette and for grey. The exit code is 0; a warning of libpng, "Too much image
# data", is on standard error, without a file name. With `--raw`, which stores the PNG file as it is, and from Pillow,
# the icon is right.
# Why it matters: files meant for the web are often interlaced, and a program that packs an icon or a favicon.ico out of
# them looks at the exit code. Take the interlacing out first, as here with `optipng -i 0`, or use `--raw` if all
# readers know PNG in ICO files.
# Needs: the lists of `apt-get update` (Debian 12); libpng16-16 and zlib1g; python3 (3.11 or 3.12) with venv.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

apt-get -qq -o APT::Sandbox::User=root download icoutils=0.32.3-4 optipng=0.7.7-2+b1
for package in *.deb; do dpkg -x "$package" root; done
PATH=$work/root/usr/bin:$PATH
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check --no-cache-dir pillow==13.0.0

# Each pixel of the full colours differs from its neighbours, and none is transparent.
cat > draw.py <<'PYTHON'
from PIL import Image

for side in 16, 48:
    colours = Image.new("RGB", (side, side))
    colours.putdata([(x * 240 // side, y * 240 // side, 128) for y in range(side) for x in range(side)])
    colours.convert("RGBA").save(f"rgba-{side}.png")
    colours.quantize(16).save(f"palette-{side}.png")
    colours.convert("L").save(f"grey-{side}.png")
PYTHON
cat > compare.py <<'PYTHON'
import sys
from PIL import Image

def pixels(path):
    picture = Image.open(path).convert("RGBA")
    return list(zip(*[iter(picture.tobytes())] * 4))

picture, icon = (pixels(path) for path in sys.argv[1:])
same = sum(one == other for one, other in zip(picture, icon)) / len(picture)
print("all pixels are right" if same == 1 else "under 5 % are right" if same < 0.05 else f"{same:.0%} are right")
PYTHON
cat > pack.py <<'PYTHON'
import sys
from PIL import Image

picture = Image.open(sys.argv[1])
picture.save(sys.argv[2], sizes=[picture.size])
PYTHON
python/bin/python draw.py

for name in rgba-16 rgba-48 palette-48 grey-48; do
    optipng -quiet -i 1 -nx "$name.png" -out "$name-interlaced.png"
    optipng -quiet -i 0 -nx "$name-interlaced.png" -out "$name-again.png"
    for input in "$name" "$name-interlaced" "$name-again"; do
        icotool -c -o "$input.ico" "$input.png" 2> "$input.log" && code=0 || code=$?
        echo "$input.png: exit code $code, $(python/bin/python compare.py "$name.png" "$input.ico")"
        sed 's/^/  /' "$input.log"
    done
    icotool -c -o raw.ico --raw="$name-interlaced.png"
    python/bin/python pack.py "$name-interlaced.png" pillow.ico
    echo "$name-interlaced.png, --raw: $(python/bin/python compare.py "$name.png" raw.ico)"
    echo "$name-interlaced.png, Pillow: $(python/bin/python compare.py "$name.png" pillow.ico)"
done > got

cat > expected <<'TEXT'
rgba-16.png: exit code 0, all pixels are right
rgba-16-interlaced.png: exit code 0, under 5 % are right
  libpng warning: IDAT: Too much image data
rgba-16-again.png: exit code 0, all pixels are right
rgba-16-interlaced.png, --raw: all pixels are right
rgba-16-interlaced.png, Pillow: all pixels are right
rgba-48.png: exit code 0, all pixels are right
rgba-48-interlaced.png: exit code 0, under 5 % are right
  libpng warning: IDAT: Too much image data
rgba-48-again.png: exit code 0, all pixels are right
rgba-48-interlaced.png, --raw: all pixels are right
rgba-48-interlaced.png, Pillow: all pixels are right
palette-48.png: exit code 0, all pixels are right
palette-48-interlaced.png: exit code 0, under 5 % are right
  libpng warning: IDAT: Too much image data
palette-48-again.png: exit code 0, all pixels are right
palette-48-interlaced.png, --raw: all pixels are right
palette-48-interlaced.png, Pillow: all pixels are right
grey-48.png: exit code 0, all pixels are right
grey-48-interlaced.png: exit code 0, under 5 % are right
  libpng warning: IDAT: Too much image data
grey-48-again.png: exit code 0, all pixels are right
grey-48-interlaced.png, --raw: all pixels are right
grey-48-interlaced.png, Pillow: all pixels are right
TEXT
diff -u expected got || { echo "no longer as described" >&2; exit 1; }
cat got
echo "as described"
