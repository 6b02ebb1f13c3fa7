#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# jgmenu 4.4.1 (Debian 12; 4.5.0 of Debian 13 does the same), its `jgmenu-apps`, beside GLib 2.74.6 and j4-dmenu-desktop
# 2.16 (Debian 12).
# Expected: what the desktop entry specification has, as GLib gives it. Hidden=true in a user's file means that the app
# was removed. The name of an app is that of its file with the subfolders before it, joined by dashes, so that the
# user's office-write.desktop takes the place of office/write.desktop, and office/draw.desktop is another app than
# draw.desktop. OnlyShowIn names the desktops that show the app, and entries of Type=Link are no apps.
# Seen: jgmenu shows the app that the user removed, with the name, the icon and the command of the file that removes it:
# it does not know Hidden. It goes by the file's own name, without subfolders. So it shows an app of a subfolder twice
# when the user replaced it, still shows it when the user hid it, and loses one of two apps with one file name. It also
# shows apps of other desktops, and links, with nothing to start. NoDisplay and TryExec work, and files replace those of
# one name, so that most entries come and go as they should. j4-dmenu-desktop gets subfolders and Hidden right; it shows
# links, and apps whose TryExec is not there.
# Why it matters: a tool that hides or replaces apps for a user, as menu editors do, has no effect in one launcher, and
# puts an app into its list twice. Write NoDisplay=true beside Hidden=true, and keep desktop files out of subfolders.
# Needs: the lists of `apt-get update` (Debian 12); what libglib2.0-0 depends on, which is there if it is installed;
# python3.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

apt-get -qq -o APT::Sandbox::User=root download jgmenu=4.4.1-1 j4-dmenu-desktop=2.16-1+b1 \
    libglib2.0-0=2.74.6-2+deb12u9
for package in *.deb; do dpkg -x "$package" root; done

# add FOLDER/NAME LINE...
add() {
    mkdir -p "$(dirname "$1")"
    printf '%s\n' "[Desktop Entry]" "Type=Application" "Exec=true" "${@:2}" > "$1.desktop"
}
system=system/applications user=user/applications
for name in clock chat mail plain; do add $system/$name "Name=System: $name"; done
add $user/clock "Name=User: clock removed" "Hidden=true"
add $user/chat "Name=User: chat not displayed" "NoDisplay=true"
add $user/mail "Name=User: mail replaced"
for name in draw write calc; do add $system/office/$name "Name=System: office $name"; done
add $user/office-write "Name=User: office write replaced"
add $user/office-calc "Name=User: office calc not displayed" "NoDisplay=true"
add $system/draw "Name=System: draw"
add $system/other "Name=System: of another desktop" "OnlyShowIn=GNOME;"
add $system/try "Name=System: not installed" "TryExec=$work/no-such-program"
printf '%s\n' "[Desktop Entry]" "Type=Link" "Name=System: link" "URL=http://icons.example/" > $system/link.desktop

cat > glib.py <<'PYTHON'
import ctypes

class List(ctypes.Structure):
    pass

List._fields_ = [("data", ctypes.c_void_p), ("next", ctypes.POINTER(List))]
library = ctypes.CDLL("libgio-2.0.so.0")
library.g_app_info_get_all.restype = ctypes.POINTER(List)
library.g_app_info_get_name.restype = ctypes.c_char_p
item = library.g_app_info_get_all()
while item:
    app = ctypes.c_void_p(item.contents.data)
    if library.g_app_info_should_show(app):
        print(library.g_app_info_get_name(app).decode())
    item = item.contents.next
PYTHON

lib=$(echo "$work"/root/usr/lib/*-linux-gnu)
mkdir home
export HOME=$work/home XDG_DATA_HOME=$work/user XDG_DATA_DIRS=$work/system XDG_CURRENT_DESKTOP=XFCE LC_ALL=C.UTF-8
LD_LIBRARY_PATH=$lib python3 glib.py | sort > GLib
# jgmenu reads /usr/share, too, whatever the variables are. Which of two files with one name it takes, depends on the
# order of the folder.
LD_LIBRARY_PATH=$lib root/usr/lib/jgmenu/jgmenu-apps | sed -n 's/^\(\(User\|System\): [^,]*\),.*/\1/p' \
    | sed 's/System: \(office \)\?draw/System: one of both draw/' | sort > jgmenu
root/usr/bin/j4-dmenu-desktop --use-xdg-de --dmenu="cat > $work/shown" > log 2>&1 < /dev/null
sort shown > j4-dmenu-desktop
for program in GLib jgmenu j4-dmenu-desktop; do sed "s/^/$program: /" $program; done > got

cat > expected <<'TEXT'
GLib: System: draw
GLib: System: office draw
GLib: System: plain
GLib: User: mail replaced
GLib: User: office write replaced
jgmenu: System: link
jgmenu: System: of another desktop
jgmenu: System: office calc
jgmenu: System: office write
jgmenu: System: one of both draw
jgmenu: System: plain
jgmenu: User: clock removed
jgmenu: User: mail replaced
jgmenu: User: office write replaced
j4-dmenu-desktop: System: draw
j4-dmenu-desktop: System: link
j4-dmenu-desktop: System: not installed
j4-dmenu-desktop: System: office draw
j4-dmenu-desktop: System: plain
j4-dmenu-desktop: User: mail replaced
j4-dmenu-desktop: User: office write replaced
TEXT
diff -u expected got || { echo "no longer as described" >&2; exit 1; }
cat got
echo "as described"
