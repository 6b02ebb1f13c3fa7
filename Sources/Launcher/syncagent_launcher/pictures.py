# SPDX-License-Identifier: Apache-2.0
"""The images of apps, which threads decode, and the cells that show them."""
import sys
import threading
from collections import OrderedDict
from queue import SimpleQueue

from .names import clean
from .toolkit import Gdk, GdkPixbuf, Gio, GLib

# What decoded images may take in memory, in bytes.
MOST = 32 << 20
# The size of the largest image file that is read, in bytes.
LARGEST = 64 << 20
# How many images are given to the threads at once. Later ones wait, and are dropped if their cells scroll away.
IN_FLIGHT = 4


class Pictures:
    """Shows images that other threads decode. The last ones are kept, up to a total of bytes.

    All but work() runs on the main thread.
    """

    def __init__(self, open_image):
        self.open_image = open_image
        self.kept, self.bytes, self.failed, self.told = OrderedDict(), 0, set(), set()
        # By digest and side: the image and the cells that want it, and what is with the threads.
        self.waiting, self.decoding, self.queue = {}, {}, SimpleQueue()
        for _ in range(2):
            threading.Thread(target=self.work, daemon=True).start()

    def show(self, image, cell, is_same_app):
        wanted = cell.wanted = image and (image.sha256, cell.side())
        if texture := self.kept.get(wanted):
            self.kept.move_to_end(wanted)
            return cell.paint(texture)
        if not image or wanted in self.failed:
            return cell.paint_letter()
        # The picture of the same app stays until the new one is decoded.
        if not is_same_app:
            cell.clear()
        if wanted in self.decoding:
            self.decoding[wanted].add(cell)
        else:
            self.waiting.setdefault(wanted, (image, set()))[1].add(cell)
            self.decode_next()

    def decode_next(self):
        while self.waiting and len(self.decoding) < IN_FLIGHT:
            wanted = next(iter(self.waiting))
            image, cells = self.waiting.pop(wanted)
            if any(cell.wanted == wanted for cell in cells):
                self.decoding[wanted] = cells
                self.queue.put((image, wanted))

    def work(self):
        while True:
            image, wanted = self.queue.get()
            _, side = wanted
            pixels = problem = None
            try:
                with self.open_image(image) as file:
                    stream = Gio.MemoryInputStream.new_from_bytes(GLib.Bytes.new(file.read(LARGEST)))
                pixels = GdkPixbuf.Pixbuf.new_from_stream_at_scale(stream, side, side, True, None)
            except GLib.Error as error:
                problem = f"{image.path}: {error.message}"
                if error.matches(GdkPixbuf.PixbufError.quark(), GdkPixbuf.PixbufError.UNKNOWN_TYPE):
                    problem = f"gdk-pixbuf has no loader for images of type {clean(image.type)}."
            except Exception as error:
                problem = str(error)
            GLib.idle_add(self.finish, wanted, pixels, problem)

    def finish(self, wanted, pixels, problem):
        cells = self.decoding.pop(wanted)
        texture = None
        if pixels:
            texture = self.kept[wanted] = Gdk.Texture.new_for_pixbuf(pixels)
            self.bytes += 4 * texture.get_width() * texture.get_height()
            while self.bytes > MOST:
                _, old = self.kept.popitem(last=False)
                self.bytes -= 4 * old.get_width() * old.get_height()
        else:
            self.failed.add(wanted)
            if problem not in self.told:
                self.told.add(problem)
                print(f"syncagent-launcher: {problem}", file=sys.stderr, flush=True)
        for cell in cells:
            if cell.wanted == wanted:
                cell.paint(texture) if texture else cell.paint_letter()
        self.decode_next()
