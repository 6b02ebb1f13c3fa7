# SPDX-License-Identifier: Apache-2.0
"""A tree of files that any engine can serve, written without syncagent: for the tests of the engines themselves."""
import hashlib
import json
import os
import time

import icons


def digest(data):
    return hashlib.sha256(data).hexdigest()


class Tree:
    """Writes generations in the order that keeps every reader safe: images, lists, and the manifest alone."""

    def __init__(self, folder):
        self.folder = folder
        self.generation = 0
        # When each generation was there.
        self.times = {}
        folder.mkdir(mode=0o755, exist_ok=True)

    def write(self, path, data):
        file = self.folder / path
        if path != "manifest.json" and file.exists():
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary = file.with_name(f".{file.name}.new")
        temporary.write_bytes(data)
        os.replace(temporary, file)

    def publish(self, lists):
        """Publishes these lists: the numbers of their icons, by name."""
        self.generation += 1
        entries = {}
        for name, numbers in lists.items():
            apps = []
            for number in numbers:
                image = icons.png(number)
                path = icon_path(number)
                self.write(path, image)
                apps.append({"icon": icons.url(number), "status": "ready", "path": path, "sha256": digest(image),
                             "bytes": len(image), "type": "image/png", "width": 8, "height": 8})
            document = json.dumps({"format": 1, "list": name, "source": {
                "sha256": digest(name.encode()), "bytes": 1, "modified": now()}, "apps": apps}).encode()
            path = f"lists/{digest(document)}.json"
            self.write(path, document)
            entries[name] = {"document": path, "sha256": digest(document), "apps": len(apps), "ready": len(apps),
                             "pending": 0, "failed": 0}
        manifest = {"format": 1, "generation": self.generation, "published": now(), "lists": entries}
        self.write("manifest.json", json.dumps(manifest).encode())
        self.times[self.generation] = time.time()


def icon_path(number):
    name = digest(icons.png(number))
    return f"icons/{name[:2]}/{name}.png"


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
