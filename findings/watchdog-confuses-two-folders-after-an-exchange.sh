#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# watchdog 6.0.0 and 7.1.0 beside watchfiles 1.3.0 (PyPI) and inotifywait 3.22.6.0 (Debian 12) on Linux. They watch a
# folder with two folders of icons, "live" and "next", which change places in one step (RENAME_EXCHANGE of rename(2), as
# `mv --exchange` of coreutils 9.5 does it).
# Expected: the names that the files have. The path of an event is that of the file which the event is about, and
# inotify tells of both moves, each with its own number (inotify(7)).
# Seen: watchdog's Observer reports both moves rightly, and from then on it has the two names the wrong way round: an
# icon that is written to "live" is reported in "next", and when the old icons in "next" are removed, it says that those
# in "live" were. It applies the moves one after the other to a table that holds each path once. The first move
# overwrites the entry that the second one needs, so both end up as they were. inotifywait and watchfiles are right, and
# so is watchdog's own PollingObserver. Its documentation says nothing about it. With two renames ("live" to "old", then
# "next" to "live"), all are right.
# Why it matters: an exchange lets a set of icons be replaced with no moment without icons. A program that keeps an
# index or thumbnails with watchdog then drops the icons in use when the old ones are cleaned up, and later changes go
# to names that do not exist. There is no error. Use two renames, the PollingObserver, or a new Observer and a new look
# at the folder whenever a folder moves.
# Needs: the lists of `apt-get update` (Debian 12); python3 (3.11 or 3.12) with venv; Linux, a file system for mktemp
# that has RENAME_EXCHANGE (ext4, XFS, Btrfs, tmpfs, overlayfs).
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

apt-get -qq -o APT::Sandbox::User=root download inotify-tools=3.22.6.0-4 libinotifytools0=3.22.6.0-4
for package in *.deb; do dpkg -x "$package" root; done
lib=$(echo "$work"/root/usr/lib/*-linux-gnu)
python3 -m venv python
pip() { python/bin/pip install --quiet --disable-pip-version-check --no-cache-dir "$@"; }
pip watchfiles==1.3.0 anyio==4.16.0
pip --target watchdog-6.0.0 watchdog==6.0.0
pip --target watchdog-7.1.0 watchdog==7.1.0

# Each program prints the events of regular files, and only "+" and "-" for what it says is there and is gone.
cat > with_watchdog.py <<'PYTHON'
import os, sys, time
from watchdog.events import FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.polling import PollingObserver

class Printer(FileSystemEventHandler):
    def on_any_event(self, event):
        name = lambda path: os.path.relpath(path, sys.argv[1])
        if not event.is_directory:
            if event.event_type in ("deleted", "moved"):
                print("-", name(event.src_path), flush=True)
            if event.event_type in ("created", "moved"):
                print("+", name(event.dest_path or event.src_path), flush=True)

observer = PollingObserver(timeout=0.2) if sys.argv[2] == "polling" else Observer()
observer.schedule(Printer(), sys.argv[1], recursive=True)
observer.start()
print("ready", flush=True)
time.sleep(60)
PYTHON
cat > with_watchfiles.py <<'PYTHON'
import os, sys
from watchfiles import Change, watch

print("ready", flush=True)
for changes in watch(sys.argv[1], debounce=100, step=20, recursive=True):
    for change, path in changes:
        if path.endswith(".png") and change != Change.modified:
            print("+" if change == Change.added else "-", os.path.relpath(path, sys.argv[1]), flush=True)
PYTHON
cat > with_inotifywait.py <<'PYTHON'
import os, subprocess, sys

tool = subprocess.Popen([sys.argv[2], "-m", "-r", "-e", "create,delete,moved_from,moved_to", "--format", "%e %w%f",
                         sys.argv[1]], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
while "established" not in tool.stderr.readline():
    pass
print("ready", flush=True)
for line in tool.stdout:
    events, path = line.rstrip("\n").split(" ", 1)
    if "ISDIR" not in events:
        print("-" if events in ("DELETE", "MOVED_FROM") else "+", os.path.relpath(path, sys.argv[1]), flush=True)
PYTHON

cat > run.py <<'PYTHON'
import ctypes, os, shutil, signal, subprocess, sys, threading, time

libc = ctypes.CDLL(None, use_errno=True)
AT_FDCWD, RENAME_EXCHANGE = -100, 2

def write(path):
    with open(path, "wb") as file:
        file.write(b"icon")

def exchange():
    if libc.renameat2(AT_FDCWD, b"icons/live", AT_FDCWD, b"icons/next", RENAME_EXCHANGE):
        raise OSError(ctypes.get_errno(), "renameat2")

def rename():
    os.rename("icons/live", "icons/old")
    os.rename("icons/next", "icons/live")

def variables(**more):
    return {**os.environ, **more}

python = ["python/bin/python", "-u"]
watchers = {
    "inotifywait": (python + ["with_inotifywait.py", "icons", "root/usr/bin/inotifywait"],
                    variables(LD_LIBRARY_PATH=sys.argv[1])),
    "watchfiles": (python + ["with_watchfiles.py", "icons"], variables()),
    "watchdog 7.1.0, PollingObserver": (python + ["with_watchdog.py", "icons", "polling"],
                                        variables(PYTHONPATH="watchdog-7.1.0")),
    "watchdog 6.0.0": (python + ["with_watchdog.py", "icons", "inotify"], variables(PYTHONPATH="watchdog-6.0.0")),
    "watchdog 7.1.0": (python + ["with_watchdog.py", "icons", "inotify"], variables(PYTHONPATH="watchdog-7.1.0")),
}

for way, swap, old in ("exchange", exchange, "next"), ("two renames", rename, "old"):
    for folder, name in ("live", "a.png"), ("next", "b.png"):
        os.makedirs(f"icons/{folder}")
        write(f"icons/{folder}/{name}")
    seen, running = {name: [] for name in watchers}, []
    for name, (command, environment) in watchers.items():
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True)
        running.append(process)
        if process.stdout.readline() != "ready\n":
            raise SystemExit(name + " did not start")
        collect = lambda process=process, lines=seen[name]: lines.extend(line.rstrip("\n") for line in process.stdout)
        threading.Thread(target=collect, daemon=True).start()
    time.sleep(1)
    swap()
    time.sleep(1.5)
    start = {name: len(lines) for name, lines in seen.items()}
    write("icons/live/c.png")
    time.sleep(1)
    shutil.rmtree("icons/" + old)
    time.sleep(1.5)
    for process in running:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    print(f"{way}, then live/c.png is written and {old} with a.png is removed")
    for name, lines in seen.items():
        print(f"  {name}:", ", ".join(lines[start[name]:]))
    shutil.rmtree("icons")
PYTHON
python3 run.py "$lib" > got

cat > expected <<'TEXT'
exchange, then live/c.png is written and next with a.png is removed
  inotifywait: + live/c.png, - next/a.png
  watchfiles: + live/c.png, - next/a.png
  watchdog 7.1.0, PollingObserver: + live/c.png, - next/a.png
  watchdog 6.0.0: + next/c.png, - live/a.png
  watchdog 7.1.0: + next/c.png, - live/a.png
two renames, then live/c.png is written and old with a.png is removed
  inotifywait: + live/c.png, - old/a.png
  watchfiles: + live/c.png, - old/a.png
  watchdog 7.1.0, PollingObserver: + live/c.png, - old/a.png
  watchdog 6.0.0: + live/c.png, - old/a.png
  watchdog 7.1.0: + live/c.png, - old/a.png
TEXT
diff -u expected got || { echo "no longer as described" >&2; exit 1; }
cat got
echo "as described"
