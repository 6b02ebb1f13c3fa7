#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# desktop-entry-lib 5.0 (PyPI), DesktopEntryCollection.load_menu and get_menu_entries.
# Expected: of two desktop files with one name, that of the first folder counts: the user's before those of
# XDG_DATA_DIRS, and of these the first. A file in a subfolder counts, too. GLib 2.74.6 (Debian 12) gives that below.
# Seen: each folder's files replace those of the folders before, so that the last folder of XDG_DATA_DIRS wins, usually
# /usr/share. What an administrator or a program of Flatpak put before it has no effect: another icon or name, or Hidden
# and NoDisplay, which take an app out of menus. If XDG_DATA_DIRS is set, as most desktops do, the user's folder
# (XDG_DATA_HOME, ~/.local/share) is not read at all; without it, it comes first and so loses. Besides:
# - spaces around "=", which the specification has readers ignore, become part of the key: the app has no name and no
#   icon, and `NoDisplay = true` is not seen;
# - subfolders are not read.
# load_menu returns True each time.
# Why it matters: a launcher shows the icon that was replaced, apps that were hidden, and entries without a name, and
# lacks what users installed for themselves. On a fresh machine, where all is in /usr/share, it is right. Load the
# folders in reverse with load_directory, the user's last, which mends the order, as below, but not the rest.
# Needs: the lists of `apt-get update` (Debian 12); what libglib2.0-0 depends on, which is there if it is installed;
# python3 (3.10 or later) with venv.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

apt-get -qq -o APT::Sandbox::User=root download libglib2.0-0=2.74.6-2+deb12u9
dpkg -x libglib2.0-0_*.deb root
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check --no-cache-dir desktop-entry-lib==5.0

# add FOLDER/NAME LINE...
add() {
    mkdir -p "$(dirname "$1")"
    printf '%s\n' "[Desktop Entry]" "Type=Application" "Exec=true" "${@:2}" > "$1.desktop"
}
for name in mail clock chat notes; do
    add system/applications/$name "Name=System's $name" "Icon=system-$name"
done
add local/applications/mail "Name=Our mail" "Icon=our-mail"
add local/applications/clock "Name=Our clock" "Hidden=true"
add local/applications/chat "Name=Our chat" "NoDisplay=true"
add user/applications/notes "Name=My notes" "Icon=my-notes"
add user/applications/game "Name=My game" "Icon=my-game"
add system/applications/spaces "Name = Spaces" "Icon = spaces"
add system/applications/settings "Name = Settings" "Icon = settings" "NoDisplay = true"
add system/applications/office/draw "Name=Draw" "Icon=draw"

cat > menu.py <<'PYTHON'
import ctypes, importlib.metadata, os
import desktop_entry_lib

def tell(reader, apps):
    for app, name, icon in sorted(apps):
        print(f"{reader}: {app}: {name or 'no name'}, {icon or 'no icon'}")

class List(ctypes.Structure):
    pass

List._fields_ = [("data", ctypes.c_void_p), ("next", ctypes.POINTER(List))]
library = ctypes.CDLL("libgio-2.0.so.0")
library.g_app_info_get_all.restype = ctypes.POINTER(List)
for function in "g_app_info_get_id", "g_app_info_get_name", "g_icon_to_string":
    getattr(library, function).restype = ctypes.c_char_p
library.g_app_info_get_icon.restype = ctypes.c_void_p

def glib():
    item = library.g_app_info_get_all()
    while item:
        app = ctypes.c_void_p(item.contents.data)
        if library.g_app_info_should_show(app):
            icon = library.g_icon_to_string(ctypes.c_void_p(library.g_app_info_get_icon(app)))
            texts = library.g_app_info_get_id(app), library.g_app_info_get_name(app), icon
            yield tuple(text.decode().removesuffix(".desktop") for text in texts)
        item = item.contents.next

def listed(collection):
    shown = collection.get_menu_entries()
    return [(app, entry.Name.default_text, entry.Icon) for app, entry in collection.desktop_entries.items()
            if any(entry is other for other in shown)]

collection = desktop_entry_lib.DesktopEntryCollection()
assert collection.load_menu()
version = ".".join(str(ctypes.c_uint.in_dll(library, f"glib_{part}_version").value)
                   for part in ("major", "minor", "micro"))
tell("GLib " + version, glib())
tell("desktop-entry-lib " + importlib.metadata.version("desktop-entry-lib"), listed(collection))

# What to do about the order.
collection = desktop_entry_lib.DesktopEntryCollection()
for folder in reversed([os.environ["XDG_DATA_HOME"], *os.environ["XDG_DATA_DIRS"].split(":")]):
    if os.path.isdir(folder + "/applications"):
        collection.load_directory(folder + "/applications")
tell("in reverse", listed(collection))
PYTHON
lib=$(echo "$work"/root/usr/lib/*-linux-gnu)
HOME=$work XDG_DATA_HOME=$work/user XDG_DATA_DIRS=$work/local:$work/system XDG_CURRENT_DESKTOP=GNOME \
    LD_LIBRARY_PATH=$lib python/bin/python menu.py > got

cat > expected <<'TEXT'
GLib 2.74.6: game: My game, my-game
GLib 2.74.6: mail: Our mail, our-mail
GLib 2.74.6: notes: My notes, my-notes
GLib 2.74.6: office-draw: Draw, draw
GLib 2.74.6: spaces: Spaces, spaces
desktop-entry-lib 5.0: chat: System's chat, system-chat
desktop-entry-lib 5.0: clock: System's clock, system-clock
desktop-entry-lib 5.0: mail: System's mail, system-mail
desktop-entry-lib 5.0: notes: System's notes, system-notes
desktop-entry-lib 5.0: settings: no name, no icon
desktop-entry-lib 5.0: spaces: no name, no icon
in reverse: game: My game, my-game
in reverse: mail: Our mail, our-mail
in reverse: notes: My notes, my-notes
in reverse: settings: no name, no icon
in reverse: spaces: no name, no icon
TEXT
diff -u expected got || { echo "no longer as described" >&2; exit 1; }
cat got
echo "as described"
