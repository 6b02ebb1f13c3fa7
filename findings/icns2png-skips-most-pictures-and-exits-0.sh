#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# icns2png of libicns 0.8.1 (Debian 12: icnsutils 0.8.1-3.1), on files that icnsutil 1.1.0 (PyPI) wrote.
# Expected: it extracts each picture of an ICNS file, or exits with an error.
# Seen: of the types that hold PNG pictures it takes only ic08, ic09 and ic10. It passes over icp4,
# icp5, ic07 and the @2x types ic11 to ic14, though they hold plain PNG files like the others. So
# of a set of ten it saves three, the smallest 256 pixels wide. Of a file that has none of the
# three it saves nothing and says so (a line for each type is on standard error), but exits 0.
# Why it matters: a script that takes a kiosk's icons out of app bundles with it, and looks at the
# exit code, gets no picture or only large ones. Count the files, or read the ICNS file yourself.
# Needs: the lists of `apt-get update`; libpng16-16 and zlib1g; python3 with venv.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

apt-get -qq -o APT::Sandbox::User=root download icnsutils=0.8.1-3.1 libicns1=0.8.1-3.1 libopenjp2-7
for package in *.deb; do dpkg -x "$package" root; done
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check icnsutil==1.1.0

# One-coloured pictures, named as icnsutil wants them: points, and @2x where a point is two pixels.
python3 - <<'PYTHON'
import struct, zlib

def chunk(name, content):
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

for points in 16, 32, 128, 256, 512:
    for scale in 1, 2:
        side = points * scale
        rows = (b"\0" + b"\x20\x60\xa0\xff" * side) * side
        with open(f"{points}x{points}{'@2x' * (scale - 1)}.png", "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 6, 0, 0, 0))
                       + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
PYTHON

lib=$(echo root/usr/lib/*-linux-gnu)
for set in all small; do
    case $set in
        all) pictures=(*.png) ;;
        small) pictures=(16x16*.png 32x32*.png 128x128*.png) ;;
    esac
    python/bin/icnsutil compose $set.icns "${pictures[@]}" > log
    echo "$set: holds $(python/bin/icnsutil info $set.icns | grep -c ' png: ') PNG pictures"
    mkdir $set
    LD_LIBRARY_PATH=$work/$lib root/usr/bin/icns2png -x -o $set $set.icns > log 2>&1 && code=0 || code=$?
    echo "$set: $(grep 'xtracted' log)"
    files=$(ls -m $set)
    echo "$set: exit code $code, files: ${files:-none}"
done > got

cat > expected <<'TEXT'
all: holds 10 PNG pictures
all: Extracted 3 images from all.icns.
all: exit code 0, files: all_1024x1024x32.png, all_256x256x32.png, all_512x512x32.png
small: holds 6 PNG pictures
small: No elements were extracted from small.icns.
small: exit code 0, files: none
TEXT
diff -u expected got || { echo "no longer as described" >&2; exit 1; }
cat got
echo "as described"
