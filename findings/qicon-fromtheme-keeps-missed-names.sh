#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Qt 6.12.0 (PyPI: PySide6-Essentials 6.12.0), QIcon.fromTheme in a program that goes on running.
# Expected: once an icon's file is in the theme, the next fromTheme() finds it, at the latest when
# the theme's folder is touched, which is how the icon theme specification tells of a change.
# Seen: a name that was asked for too early has no icon from then on, touched folder or not, while
# a file that arrived at the same time is found if its name was never asked for. A redrawn picture
# is not seen either. setThemeName() with the same name changes nothing; setThemeName() with
# another name and back makes all of them appear.
# Why it matters: a launcher that draws its window before the icons are downloaded shows the gaps
# until it is started again, and a test that asks for the icon only afterwards passes. Ask late, or
# change the theme's name and back when the icons' folder has changed.
# Needs: x86_64 with glibc 2.34 or later; python3 (3.10 or later) with venv; Debian's libegl1, libgl1,
# libxkbcommon0, libfontconfig1, libdbus-1-3 and libglib2.0-0. No display: Qt draws off screen.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check --no-cache-dir PySide6-Essentials==6.12.0 shiboken6==6.12.0

mkdir -p themes/kiosk/48x48/apps home
cat > themes/kiosk/index.theme <<'INI'
[Icon Theme]
Name=Kiosk
Comment=Icons of a kiosk
Directories=48x48/apps

[48x48/apps]
Size=48
Type=Fixed
Context=Applications
INI

cat > launcher.py <<'PYTHON'
import os, time
from PySide6.QtCore import qVersion
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QImage

def draw(name, color):
    image = QImage(48, 48, QImage.Format.Format_ARGB32)
    image.fill(QColor(color))
    assert image.save(f"themes/kiosk/48x48/apps/{name}.png")

def look(*names):
    found = []
    for name in names:
        icon = QIcon.fromTheme(name)
        color = None if icon.isNull() else icon.pixmap(48, 48).toImage().pixelColor(24, 24).name()
        found.append(f"{name} {colors.get(color, color)}")
    return ", ".join(found)

colors = {None: "missing", "#ff0000": "red", "#0000ff": "blue", "#ffff00": "yellow"}
app = QGuiApplication([])
QIcon.setThemeSearchPaths([os.path.abspath("themes")])
QIcon.setThemeName("kiosk")
draw("clock", "red")
print("Qt", qVersion())
print("at start:", look("clock", "mail"))

time.sleep(2)  # so that the times differ even in whole seconds
for name, color in ("clock", "yellow"), ("mail", "blue"), ("map", "blue"):
    draw(name, color)
for folder in "themes/kiosk/48x48/apps", "themes/kiosk/48x48", "themes/kiosk":
    os.utime(folder)
app.processEvents()
print("files written, folders touched:", look("clock", "mail", "map"))
QIcon.setThemeName("kiosk")
print("same theme name set:", look("clock", "mail", "map"))
QIcon.setThemeName("other")
QIcon.setThemeName("kiosk")
print("other theme name and back:", look("clock", "mail", "map"))
PYTHON
env -u LD_LIBRARY_PATH -u QT_PLUGIN_PATH HOME="$work/home" XDG_DATA_DIRS="$work/home" LC_ALL=C.UTF-8 \
    QT_QPA_PLATFORM=offscreen QT_LOGGING_RULES='*.debug=false' python/bin/python launcher.py > got

cat > expected <<'TEXT'
Qt 6.12.0
at start: clock red, mail missing
files written, folders touched: clock red, mail missing, map blue
same theme name set: clock red, mail missing, map blue
other theme name and back: clock yellow, mail blue, map blue
TEXT
diff -u expected got || { echo "no longer as described" >&2; exit 1; }
cat got
echo "as described"
