#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# XPM icons of a few plain colours, written by ppmtoxpm of Netpbm 11.10.2, GraphicsMagick 1.4 (snapshot of 2025-03-31)
# and ImageMagick 7.1.1-43, and read by gdk-pixbuf 2.42.12 and the last two (all Debian 13), and by Qt 6.12.0 (PyPI).
# Expected: the colours of the picture. XPM allows names, and takes them from the list of X11 (rgb.txt).
# Seen: these writers put a name where they know one for exactly that colour, and not the same list.
# - ppmtoxpm has a list of its own. Many of its names mean nothing to others: gdk-pixbuf makes all pixels of such a
#   colour transparent, Qt draws them black, GraphicsMagick and ImageMagick refuse the file. Others are names of X11
#   with other values: its Orange is #ff8000, and all four readers draw #ffa500.
# - Both Magicks write the names of X11. Of these, gdk-pixbuf and GraphicsMagick read four as CSS has them: green, gray,
#   maroon and purple become darker or other colours. So GraphicsMagick does not read back what it writes.
# The writers end with exit code 0, and a reader that draws something says nothing.
# Why it matters: only flat areas are hit, as icons have them, and only some colours: an orange mark changes its tone, a
# dark grey one vanishes. A menu with GTK and one with Qt show different icons. Write digits: `ppmtoxpm -hexonly`, which
# all read right, as below; for the Magicks, make a PNG instead, or replace the names in the file.
# Needs: root, mmdebstrap (it downloads 50 MB), python3 (3.11 or later) with venv.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Their files only: no package is set up. base-files has the links that programs need to start.
packages=base-files,netpbm,graphicsmagick,imagemagick,libgdk-pixbuf-2.0-0,shared-mime-info,python3
mmdebstrap --quiet --variant=extract --include=$packages trixie root "deb http://deb.debian.org/debian trixie main"
chroot root update-mime-database /usr/share/mime
loaders=$(cd root && echo usr/lib/*-linux-gnu/gdk-pixbuf-2.0/gdk-pixbuf-query-loaders)
chroot root /$loaders --update-cache
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check --no-cache-dir PySide6-Essentials==6.12.0 shiboken6==6.12.0

cat > root/tmp/run.py <<'PYTHON'
import ctypes, os, re, subprocess, sys

os.chdir("/tmp")
colours = sys.argv[1:]
library = ctypes.CDLL("libgdk_pixbuf-2.0.so.0")
library.gdk_pixbuf_new_from_file.restype = library.gdk_pixbuf_get_pixels.restype = ctypes.c_void_p

def run(*command, input=None):
    return subprocess.run(command, input=input, check=True, capture_output=True)

def gdk_pixbuf(path):
    error = ctypes.c_void_p()
    picture = ctypes.c_void_p(library.gdk_pixbuf_new_from_file(path.encode(), ctypes.byref(error)))
    channels = library.gdk_pixbuf_get_n_channels(picture)
    pixel = ctypes.string_at(library.gdk_pixbuf_get_pixels(picture), channels)
    return "nothing" if pixel[3:] == b"\0" else "#" + pixel[:3].hex()

def magick(program):
    def read(path):
        try:
            return "#" + run(program, "convert", path, "-depth", "8", "rgb:-").stdout[:3].hex()
        except subprocess.CalledProcessError:
            return "refused"
    return read

print("gdk-pixbuf", ctypes.c_char_p.in_dll(library, "gdk_pixbuf_version").value.decode())
print(*run("gm", "version").stdout.decode().split()[:3])
print(*run("magick-im7.q16", "-version").stdout.decode().split()[1:3])
print(re.search(r"Netpbm [\d.]+", run("ppmtoxpm", "--version").stderr.decode())[0])

writers = {
    "ppmtoxpm": ("ppmtoxpm", "picture.ppm"),
    "ppmtoxpm -hexonly": ("ppmtoxpm", "-hexonly", "picture.ppm"),
    "GraphicsMagick": ("gm", "convert", "picture.ppm", "xpm:-"),
    "ImageMagick": ("magick-im7.q16", "picture.ppm", "xpm:-"),
}
readers = {"gdk-pixbuf": gdk_pixbuf, "GraphicsMagick": magick("gm"), "ImageMagick": magick("magick-im7.q16")}
for colour in colours:
    # The second pixel has a colour without a name.
    with open("picture.ppm", "wb") as file:
        file.write(b"P6 2 1 255\n" + bytes.fromhex(colour) + b"\1\2\3")
    for writer, command in writers.items():
        text = run(*command).stdout
        path = f"{colour}-{writer}.xpm"
        with open(path, "wb") as file:
            file.write(text)
        name, = set(re.findall(r'"..?c (.*)"', text.decode())) - {"#010203"}
        seen = {reader: read(path) for reader, read in readers.items()}
        if writer == "ppmtoxpm -hexonly":
            assert name.lower() == "#" + colour and set(seen.values()) == {"#" + colour}
        else:
            print(f"#{colour} {writer} {name}:", ", ".join(f"{reader} {seen[reader]}" for reader in readers))
print("ppmtoxpm -hexonly: all right")
PYTHON
cat > qt.py <<'PYTHON'
import sys
from PySide6.QtCore import qVersion
from PySide6.QtGui import QImage

print("Qt", qVersion())
for colour in sys.argv[1:]:
    print(f"#{colour}", ", ".join(f"{writer} {QImage(f'root/tmp/{colour}-{writer}.xpm').pixelColor(0, 0).name()}"
          for writer in ("ppmtoxpm", "ppmtoxpm -hexonly", "GraphicsMagick", "ImageMagick")))
PYTHON
colours="ff8000 008aff 2f4f4f e32636 00ff00 bebebe b03060 a020f0 3465a4"
chroot root python3 /tmp/run.py $colours > got
python/bin/python qt.py $colours >> got

cat > expected <<'TEXT'
gdk-pixbuf 2.42.12
GraphicsMagick 1.4 snapshot-20250331
ImageMagick 7.1.1-43
Netpbm 11.10.2
#ff8000 ppmtoxpm Orange: gdk-pixbuf #ffa500, GraphicsMagick #ffa500, ImageMagick #ffa500
#ff8000 GraphicsMagick #FF8000: gdk-pixbuf #ff8000, GraphicsMagick #ff8000, ImageMagick #ff8000
#ff8000 ImageMagick #FF8000: gdk-pixbuf #ff8000, GraphicsMagick #ff8000, ImageMagick #ff8000
#008aff ppmtoxpm SkyBlue: gdk-pixbuf #87ceeb, GraphicsMagick #87ceeb, ImageMagick #87ceeb
#008aff GraphicsMagick #008AFF: gdk-pixbuf #008aff, GraphicsMagick #008aff, ImageMagick #008aff
#008aff ImageMagick #008AFF: gdk-pixbuf #008aff, GraphicsMagick #008aff, ImageMagick #008aff
#2f4f4f ppmtoxpm SlateGreyDark: gdk-pixbuf nothing, GraphicsMagick refused, ImageMagick refused
#2f4f4f GraphicsMagick DarkSlateGray: gdk-pixbuf #2f4f4f, GraphicsMagick #2f4f4f, ImageMagick #2f4f4f
#2f4f4f ImageMagick DarkSlateGray: gdk-pixbuf #2f4f4f, GraphicsMagick #2f4f4f, ImageMagick #2f4f4f
#e32636 ppmtoxpm AlizarinCrimson: gdk-pixbuf nothing, GraphicsMagick refused, ImageMagick refused
#e32636 GraphicsMagick #E32636: gdk-pixbuf #e32636, GraphicsMagick #e32636, ImageMagick #e32636
#e32636 ImageMagick #E32636: gdk-pixbuf #e32636, GraphicsMagick #e32636, ImageMagick #e32636
#00ff00 ppmtoxpm Green: gdk-pixbuf #008000, GraphicsMagick #008000, ImageMagick #00ff00
#00ff00 GraphicsMagick green: gdk-pixbuf #008000, GraphicsMagick #008000, ImageMagick #00ff00
#00ff00 ImageMagick green: gdk-pixbuf #008000, GraphicsMagick #008000, ImageMagick #00ff00
#bebebe ppmtoxpm #BEBEBE: gdk-pixbuf #bebebe, GraphicsMagick #bebebe, ImageMagick #bebebe
#bebebe GraphicsMagick gray: gdk-pixbuf #808080, GraphicsMagick #7e7e7e, ImageMagick #bebebe
#bebebe ImageMagick gray: gdk-pixbuf #808080, GraphicsMagick #7e7e7e, ImageMagick #bebebe
#b03060 ppmtoxpm Maroon: gdk-pixbuf #800000, GraphicsMagick #800000, ImageMagick #b03060
#b03060 GraphicsMagick maroon: gdk-pixbuf #800000, GraphicsMagick #800000, ImageMagick #b03060
#b03060 ImageMagick maroon: gdk-pixbuf #800000, GraphicsMagick #800000, ImageMagick #b03060
#a020f0 ppmtoxpm Purple: gdk-pixbuf #800080, GraphicsMagick #800080, ImageMagick #a020f0
#a020f0 GraphicsMagick purple: gdk-pixbuf #800080, GraphicsMagick #800080, ImageMagick #a020f0
#a020f0 ImageMagick purple: gdk-pixbuf #800080, GraphicsMagick #800080, ImageMagick #a020f0
#3465a4 ppmtoxpm #3465A4: gdk-pixbuf #3465a4, GraphicsMagick #3465a4, ImageMagick #3465a4
#3465a4 GraphicsMagick #3465A4: gdk-pixbuf #3465a4, GraphicsMagick #3465a4, ImageMagick #3465a4
#3465a4 ImageMagick #3465A4: gdk-pixbuf #3465a4, GraphicsMagick #3465a4, ImageMagick #3465a4
ppmtoxpm -hexonly: all right
Qt 6.12.0
#ff8000 ppmtoxpm #ffa500, ppmtoxpm -hexonly #ff8000, GraphicsMagick #ff8000, ImageMagick #ff8000
#008aff ppmtoxpm #87ceeb, ppmtoxpm -hexonly #008aff, GraphicsMagick #008aff, ImageMagick #008aff
#2f4f4f ppmtoxpm #000000, ppmtoxpm -hexonly #2f4f4f, GraphicsMagick #2f4f4f, ImageMagick #2f4f4f
#e32636 ppmtoxpm #000000, ppmtoxpm -hexonly #e32636, GraphicsMagick #e32636, ImageMagick #e32636
#00ff00 ppmtoxpm #00ff00, ppmtoxpm -hexonly #00ff00, GraphicsMagick #00ff00, ImageMagick #00ff00
#bebebe ppmtoxpm #bebebe, ppmtoxpm -hexonly #bebebe, GraphicsMagick #bebebe, ImageMagick #bebebe
#b03060 ppmtoxpm #b03060, ppmtoxpm -hexonly #b03060, GraphicsMagick #b03060, ImageMagick #b03060
#a020f0 ppmtoxpm #a020f0, ppmtoxpm -hexonly #a020f0, GraphicsMagick #a020f0, ImageMagick #a020f0
#3465a4 ppmtoxpm #3465a4, ppmtoxpm -hexonly #3465a4, GraphicsMagick #3465a4, ImageMagick #3465a4
TEXT
diff -u expected got || { echo "no longer as described" >&2; exit 1; }
cat got
echo "as described"
