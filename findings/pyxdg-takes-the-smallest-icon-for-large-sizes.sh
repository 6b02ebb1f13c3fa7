#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# pyxdg 0.28 (PyPI; python3-xdg 0.28-2 of Debian 12 has the same code), getIconPath, on two themes of Debian 12:
# elementary (elementary-icon-theme 7.2.0-1), where each directory is of Type=Scalable and has a range of sizes, and
# hicolor (hicolor-icon-theme 0.17-2).
# Expected: the icon of the first directory whose sizes include the one asked for, else that of the nearest, as the icon
# theme specification has it. GTK 3.24.38 gives that for each line below.
# Seen: from elementary, the drawing for 16 pixels, whatever size is asked for, though there are others for 24 to 128.
# From hicolor, of an icon with 16 and 48 pixels that of 16 when 64 or more are asked for. Three things come together:
# - the exact step knows a type "Scaleable", which the specification has not: no scalable directory ever matches;
# - in the second step a size above MaxSize is at a distance below 0, so that the least suitable directory is nearest;
# - a MaxSize that is missing is 0, not Size, as the code means it to be: all directories of type Threshold that are too
#   small are at the same distance, and the first of them, which has the smallest icons, is taken.
# Why it matters: a launcher or a menu shows a blurred icon, or a drawing that was simplified for 16 pixels, where the
# theme has the right one. There is no error, and sizes that an icon has in hicolor are right, as in most tests. Choose
# the directory as the specification says; the last part below does so in a dozen lines.
# Needs: the lists of `apt-get update` (Debian 12); what libgtk-3-0 depends on, which is there if it is installed;
# python3 (3.8 or later) with venv. No display.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

apt-get -qq -o APT::Sandbox::User=root download elementary-icon-theme=7.2.0-1 hicolor-icon-theme=0.17-2 \
    libgtk-3-0=3.24.38-2~deb12u3
for package in *.deb; do dpkg -x "$package" root; done
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check --no-cache-dir pyxdg==0.28

# A program with two icons in hicolor. Nobody looks into the files.
touch root/usr/share/icons/hicolor/{16x16,48x48}/apps/clock.png

cat > choose.py <<'PYTHON'
import ctypes, os
import xdg
from xdg import IconTheme

icons = os.environ["XDG_DATA_DIRS"] + "/icons"
library = ctypes.CDLL("libgtk-3.so.0")
library.gtk_icon_theme_new.restype = library.gtk_icon_theme_lookup_icon.restype = ctypes.c_void_p
library.gtk_icon_info_get_filename.restype = ctypes.c_char_p
version = ".".join(str(getattr(library, f"gtk_get_{part}_version")()) for part in ("major", "minor", "micro"))

def pyxdg(theme, name, size):
    return IconTheme.getIconPath(name, size, theme)

def gtk(theme, name, size):
    themes = ctypes.c_void_p(library.gtk_icon_theme_new())
    library.gtk_icon_theme_set_search_path(themes, (ctypes.c_char_p * 1)(icons.encode()), 1)
    library.gtk_icon_theme_set_custom_theme(themes, theme.encode())
    info = ctypes.c_void_p(library.gtk_icon_theme_lookup_icon(themes, name.encode(), size, 0))
    return library.gtk_icon_info_get_filename(info).decode()

def tell(reader, choose):
    for theme, name, sizes in [
        ("elementary", "system-file-manager", (16, 24, 32, 48, 64, 128)),
        ("elementary", "folder", (16, 24, 32, 48, 64, 128)),
        ("hicolor", "clock", (16, 48, 64, 128)),
    ]:
        folders = [os.path.relpath(os.path.dirname(choose(theme, name, size)), f"{icons}/{theme}") for size in sizes]
        print(f"{reader}, {theme} {name}:", ", ".join(f"{size} {folder}" for size, folder in zip(sizes, folders)))

tell("pyxdg " + xdg.__version__, pyxdg)
tell("GTK " + version, gtk)

# What to do.
def distance(folder, size, theme):
    keys = theme.content[folder]
    own, kind = int(keys["Size"]), keys.get("Type", "Threshold")
    low = high = own
    if kind == "Scalable":
        low, high = int(keys.get("MinSize", own)), int(keys.get("MaxSize", own))
    elif kind == "Threshold":
        threshold = int(keys.get("Threshold", 2))
        low, high = own - threshold, own + threshold
    return max(low - size, size - high, 0)

IconTheme.DirectorySizeDistance = distance
IconTheme.DirectoryMatchesSize = lambda *where: distance(*where) == 0
IconTheme.icon_cache.clear()
tell("mended pyxdg", pyxdg)
PYTHON
lib=$(echo "$work"/root/usr/lib/*-linux-gnu)
HOME=$work XDG_DATA_HOME=$work/none XDG_DATA_DIRS=$work/root/usr/share LD_LIBRARY_PATH=$lib \
    python/bin/python choose.py > got

cat > expected <<'TEXT'
pyxdg 0.28, elementary system-file-manager: 16 apps/16, 24 apps/16, 32 apps/16, 48 apps/16, 64 apps/16, 128 apps/16
pyxdg 0.28, elementary folder: 16 places/16, 24 places/16, 32 places/16, 48 places/16, 64 places/16, 128 places/16
pyxdg 0.28, hicolor clock: 16 16x16/apps, 48 48x48/apps, 64 16x16/apps, 128 16x16/apps
GTK 3.24.38, elementary system-file-manager: 16 apps/16, 24 apps/24, 32 apps/32, 48 apps/48, 64 apps/64, 128 apps/128
GTK 3.24.38, elementary folder: 16 places/16, 24 places/24, 32 places/32, 48 places/48, 64 places/64, 128 places/128
GTK 3.24.38, hicolor clock: 16 16x16/apps, 48 48x48/apps, 64 48x48/apps, 128 48x48/apps
mended pyxdg, elementary system-file-manager: 16 apps/16, 24 apps/24, 32 apps/32, 48 apps/48, 64 apps/64, 128 apps/128
mended pyxdg, elementary folder: 16 places/16, 24 places/24, 32 places/32, 48 places/48, 64 places/64, 128 places/128
mended pyxdg, hicolor clock: 16 16x16/apps, 48 48x48/apps, 64 48x48/apps, 128 48x48/apps
TEXT
diff -u expected got || { echo "no longer as described" >&2; exit 1; }
cat got
echo "as described"
