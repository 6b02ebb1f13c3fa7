# SPDX-License-Identifier: Apache-2.0
"""Reads a cache as programs do, and holds what it reads against the icons that were served."""
import hashlib
import json
import random
import threading

import icons


def digest(data):
    return hashlib.sha256(data).hexdigest()


class CacheReader:
    """One reader of a cache. It keeps the documents that it has read: their names are their digests."""

    def __init__(self, cache):
        self.cache = cache
        self.documents = {}

    def generation(self):
        """The number of the newest generation."""
        return json.loads((self.cache / "manifest.json").read_bytes())["generation"]

    def ready(self):
        """The paths of all icons that are ready, by URL."""
        manifest = json.loads((self.cache / "manifest.json").read_bytes())
        paths = {}
        for name, entry in manifest["lists"].items():
            paths |= self.document(name, entry["document"], entry["sha256"])
        return paths

    def document(self, name, path, sha256):
        if sha256 not in self.documents:
            data = (self.cache / path).read_bytes()
            assert digest(data) == sha256, f"{path} is not what the manifest says of {name}"
            self.documents[sha256] = {
                app["icon"]: app["path"] for app in json.loads(data)["apps"] if app["status"] == "ready"}
        return self.documents[sha256]

    def check(self, url, path):
        """Fails if the image is not the one that was served."""
        data = (self.cache / path).read_bytes()
        assert data == icons.png(icons.number_of(url)), f"{path} is not the image of {url}"

    def check_all(self):
        """The numbers of all icons that are ready, each of them checked."""
        ready = self.ready()
        for url, path in ready.items():
            self.check(url, path)
        return {icons.number_of(url) for url in ready}


class RepeatedReading:
    """Reads again and again in a thread, until the block ends, which fails if a read did. A subclass has `read_once`."""

    def __init__(self, name):
        self.name = name
        self.reads = 0
        self.faults = []
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.read, daemon=True)

    def pause(self):
        """The seconds between two reads."""
        return 0.002

    def read(self):
        while not self.is_over.wait(self.pause()):
            try:
                self.read_once()
            except Exception as error:
                self.faults.append(f"read {self.reads}: {type(error).__name__}: {error}")

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.is_over.set()
        self.thread.join(30)
        if error[0] is None:
            faults = "\n".join(self.faults[:10])
            assert not self.faults, f"{len(self.faults)} of {self.reads} reads of {self.name} failed:\n{faults}"
            assert self.reads, "nothing was read"


class SteadyReader(RepeatedReading):
    """Reads the manifest, its documents and some images, and notes whatever is missing or wrong."""

    def __init__(self, cache, at_least=()):
        super().__init__("the cache")
        self.reader = CacheReader(cache)
        # Icons that are to be ready all the time.
        self.at_least = {icons.url(number) for number in at_least}
        self.chosen = random.Random(1)

    def read_once(self):
        ready = self.reader.ready()
        if missing := self.at_least - ready.keys():
            raise AssertionError(f"{len(missing)} icons are not ready any more, such as {min(missing)}")
        for url in self.chosen.sample(list(ready), min(20, len(ready))):
            self.reader.check(url, ready[url])
        self.reads += 1
