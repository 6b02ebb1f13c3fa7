# SPDX-License-Identifier: Apache-2.0
"""Speaks with syncagent-render, and builds it if there is none."""
import os, re, struct, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PNG, JPEG, GIF, WEBP, BMP, DIB, AVIF, HEIC, JXL = range(1, 10)
ENLARGE, INSIDE = 1, 2
RENDERED, UNSUPPORTED, DAMAGED, TOO_LARGE = range(4)
HEADERS = "png.h stdio.h jpeglib.h gif_lib.h webp/decode.h webp/demux.h lcms2.h zlib.h"


def request(kind, data, sizes=(48, 64, 128), flags=0, most=64 << 20):
    head = struct.pack("<4I", 0x51524E52, kind, flags, len(sizes))
    return head + struct.pack("<%dI" % len(sizes), *sizes) + struct.pack("<2I", most, len(data)) + data


class Renderer:
    """A running syncagent-render."""

    def __init__(self, program, wrapper=()):
        self.process = subprocess.Popen([*wrapper, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        greeting = self.read(16)
        assert greeting[:8] == b"SYNCREND", greeting
        self.rendering, self.kinds = struct.unpack("<2I", greeting[8:])

    def read(self, count):
        data = self.process.stdout.read(count)
        if len(data) < count:
            raise EOFError("the program ended with %s" % self.process.wait())
        return data

    def numbers(self, count):
        return struct.unpack("<%dI" % count, self.read(4 * count))

    def render(self, kind, data, sizes=(48, 64, 128), flags=0, most=64 << 20):
        """The verdict, and a list of (width, height, PNG), or why there is none."""
        self.process.stdin.write(request(kind, data, sizes, flags, most))
        self.process.stdin.flush()
        magic, verdict = self.numbers(2)
        assert magic == 0x41524E52, hex(magic)
        if verdict != RENDERED:
            reason = self.read(*self.numbers(1)).decode("ascii")
            assert 0 < len(reason) <= 200 and reason.isprintable(), reason
            return verdict, reason
        answer = []
        for _ in sizes:
            width, height, length = self.numbers(3)
            answer.append((width, height, self.read(length)))
        return verdict, answer

    def peak(self):
        """The most memory that was resident, in KiB; wait4(2) may tell that of the parent, from before exec."""
        with open("/proc/%d/status" % self.process.pid) as status:
            return int(re.search(r"VmHWM:\s*(\d+) kB", status.read()).group(1))

    def end(self):
        """Its exit status."""
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.returncode is None:
            self.end()


folders = []


def has_headers(names=HEADERS):
    text = "".join("#include <%s>\n" % name for name in names.split())
    cc = os.environ.get("CC", "cc").split()
    try:
        return subprocess.run([*cc, "-E", "-"], input=text.encode(), capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def program(arguments, *options):
    """The program of the first argument, or one that is built now. Exits with 77 if that is not possible here."""
    if arguments:
        return os.path.abspath(arguments[0])
    if not has_headers():
        print("skipped: a C compiler or the headers of the image libraries are missing (see Packaging/renderer)")
        sys.exit(77)
    folder = tempfile.TemporaryDirectory(prefix="syncagent-render-")
    subprocess.run([ROOT + "/Packaging/renderer", folder.name, "syncagent-render", *options], check=True)
    folders.append(folder)
    return folder.name + "/syncagent-render"
