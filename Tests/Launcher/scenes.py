# SPDX-License-Identifier: Apache-2.0
"""Caches and installed apps for the launcher, and how it is started on a display of its own."""
import contextlib, os, pathlib, shutil, struct, subprocess, sys, zlib

PROJECT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "Tests/Conformance"))
from cache import Cache, failed, pending, ready, rendered  # noqa: E402
from library import environment as reader_environment  # noqa: E402

NAMES = (
    "Mail Maps Music Notes Photos Radio Reader Recorder Weather Clock Books Camera Chess Files Games Globe Herbarium Ideas "
    "Jazz Keys Lamp News Orbit Paint").split()
KINDS = ("", " Pro", " for Teams", " Studio", " Remote Desktop Viewer", " Lite", " Archive", " Sync", " Viewer", " Beta",
         " Administration Console", " Express", " Classic")


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(red, green, blue, side=64):
    """A PNG of one color."""
    rows = (b"\0" + bytes((red, green, blue)) * side) * side
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def app_names(count):
    """Names as apps have them, of one line and of two."""
    most = len(NAMES) * len(KINDS)
    kinds = (KINDS[(number // len(NAMES) + 5 * number) % len(KINDS)] for number in range(min(count, most)))
    names = [NAMES[number % len(NAMES)] + kind for number, kind in enumerate(kinds)]
    return names + [f"App {number}" for number in range(most, count)]


def fill(folder, count, draw, size="64"):
    """Publishes apps, of which every eleventh has no image yet and every thirteenth never gets one."""
    cache, apps, images = Cache(folder), [], []
    for number, name in enumerate(app_names(count)):
        url, identity = f"https://example.com/{number}.png", f"com.example.{number}"
        if number % 11 == 5:
            apps.append(pending(url, name=name, id=identity))
        elif number % 13 == 7:
            apps.append(failed(url, name=name, id=identity))
        else:
            data = draw(number, name)
            cache.rendition(data, url, size)
            apps.append(ready(url, data, name=name, id=identity, renditions=rendered({size: data})))
            images.append((data, url))
    cache.publish({"apps.plist": apps}, images)
    return cache


def install(data, numbers):
    """Writes desktop files into a data folder, for the apps with these numbers."""
    folder = pathlib.Path(data, "applications")
    folder.mkdir(parents=True, exist_ok=True)
    for number in numbers:
        (folder / f"com.example.{number}.desktop").write_text(
            f"[Desktop Entry]\nType=Application\nName=App {number}\nExec=true\n")


def environment(home, **more):
    """That of a user whose files are all below a folder."""
    kept = {key: value for key, value in reader_environment().items() if not key.startswith(("XDG_", "DBUS_"))}
    return {
        **kept, "HOME": str(home), "XDG_DATA_HOME": f"{home}/data", "XDG_CONFIG_HOME": f"{home}/config",
        "XDG_RUNTIME_DIR": str(home), "PYTHONDONTWRITEBYTECODE": "1", "GDK_BACKEND": "x11", "GSK_RENDERER": "cairo", "LANG": "C.UTF-8",
        # No bus: nothing of the session of who runs this counts.
        "DBUS_SESSION_BUS_ADDRESS": "disabled:", "GTK_A11Y": "none", "GSETTINGS_BACKEND": "memory", **more}


@contextlib.contextmanager
def display(width, height):
    """Runs a display, and yields its name."""
    reader, writer = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writer), "-screen", "0", f"{width}x{height}x24", "-nolisten", "tcp"],
        pass_fds=[writer], stderr=subprocess.DEVNULL)
    os.close(writer)
    try:
        with os.fdopen(reader) as file:
            yield f":{file.readline().strip()}"
    finally:
        server.terminate()
        server.wait(30)


def python():
    """An interpreter that has GTK, which may be another one than this; None if there is none."""
    for found in (sys.executable, "/usr/bin/python3"):
        check = "import gi; gi.require_version('Gtk', '4.0'); from gi.repository import Gtk"
        if os.path.exists(found) and not subprocess.run([found, "-c", check], stderr=subprocess.DEVNULL).returncode:
            return found
    return None


def missing():
    """What the tests that need a display need besides; None if it is all there."""
    if not shutil.which("Xvfb"):
        return "xvfb is not installed"
    return None if python() else "python3-gi or gir1.2-gtk-4.0 is not installed"
