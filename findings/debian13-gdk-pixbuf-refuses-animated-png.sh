#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# gdk-pixbuf 2.42.12 with shared-mime-info 2.4 (Debian 13), on an animated PNG that Pillow 12.0.0 (PyPI) wrote.
# Expected: it loads the picture that the PNG has for readers without animation, as it does in Debian 12.
# Seen: "Couldn't recognize the image file format", if the chunk acTL comes directly after IHDR, as Pillow and APNG
# Assembler write it. The same file with a pHYs chunk before acTL loads, as do those of FFmpeg and ImageMagick.
# The new MIME database calls the first image/apng, and no loader of gdk-pixbuf names that type.
# Why it matters: after an upgrade to Debian 13, GTK programs that load images with gdk-pixbuf no longer show some
# icons that they showed before, by bytes that no reader of plain PNGs looks at.
# Needs: root, mmdebstrap (it downloads 60 MB), python3 with venv.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Their files only: no package is set up. base-files has the links that programs need to start.
packages=base-files,libgdk-pixbuf-2.0-0,libgdk-pixbuf2.0-bin,shared-mime-info
mmdebstrap --quiet --variant=extract --include=$packages trixie root "deb http://deb.debian.org/debian trixie main"
chroot root update-mime-database /usr/share/mime
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check pillow==12.0.0

python/bin/python - <<'PYTHON'
import struct, zlib
from PIL import Image

frames = [Image.new("RGBA", (32, 32), colour) for colour in ("red", "blue")]
frames[0].save("root/tmp/animated.png", save_all=True, append_images=frames[1:], duration=100)
frames[0].save("root/tmp/plain.png")
with open("root/tmp/animated.png", "rb") as file:
    data = file.read()
assert data[37:41] == b"acTL"
size = b"pHYs" + struct.pack(">2IB", 2835, 2835, 1)
size = struct.pack(">I", 9) + size + struct.pack(">I", zlib.crc32(size))
with open("root/tmp/animated-later.png", "wb") as file:
    file.write(data[:33] + size + data[33:])
PYTHON

for name in plain animated animated-later; do
    chroot root gdk-pixbuf-thumbnailer -s 32 /tmp/$name.png /tmp/out.png > log 2>&1 && result=loaded || result=refused
    grep -q "recognize the image file format" log && result="$result: format not recognized"
    echo "$name: $result"
done > got

cat > expected <<'TEXT'
plain: loaded
animated: refused: format not recognized
animated-later: loaded
TEXT
diff -u expected got || { echo "no longer as described" >&2; exit 1; }
cat got
echo "as described"
