# SPDX-License-Identifier: Apache-2.0
"""Cache folders as the agent makes them, and as it never does."""
import fcntl, hashlib, json, os, shutil

MODIFIED = "2026-11-21T02:44:50Z"
PUBLISHED = "2026-11-21T02:44:52Z"


def digest(data):
    return hashlib.sha256(data if isinstance(data, bytes) else data.encode()).hexdigest()


def image_path(sha256, suffix="png"):
    return f"icons/{sha256[:2]}/{sha256}.{suffix}"


def url_path(url):
    name = digest(url)
    return f"by-url/{name[:2]}/{name}"


def size_path(url, size):
    """The name of a URL's rendition."""
    return url_path(url).replace("by-url", f"by-size/{size}", 1)


def pixels(size):
    """Those of the longer side that a size stands for: 128 of 64@2."""
    side, _, scale = size.partition("@")
    return int(side) * int(scale or 1)


def rendered(contents, **members):
    """The `renditions` of an entry, given the contents of each by its size; `members` replace those of all."""
    found = {}
    for size, data in contents.items():
        sha256, data = digest(data), data if isinstance(data, bytes) else data.encode()
        found[size] = {
            "path": image_path(sha256), "sha256": sha256, "bytes": len(data), "width": pixels(size),
            "height": pixels(size) * 3 // 4, **members}
    return found


def ready(icon, contents, **members):
    """An entry whose image has these contents."""
    sha256 = digest(contents)
    size = len(contents if isinstance(contents, bytes) else contents.encode())
    image = {
        "path": image_path(sha256), "sha256": sha256, "bytes": size, "type": "image/png", "width": 64, "height": 48}
    return {**{key: members.pop(key) for key in ("name", "id") if key in members}, "icon": icon,
            **{key: members.pop(key) for key in ("download", "expected") if key in members}, "status": "ready",
            **image, **members}


def pending(icon, **members):
    return {**members, "icon": icon, "status": "pending"}


def failed(icon, error="http-404", **members):
    return {**members, "icon": icon, "status": "failed", "error": error}


def lines(head, items, tail):
    """JSON with one item on each line."""
    return head + ",".join("\n  " + item for item in items) + ("\n" if items else "") + tail + "\n"


def spaced(value):
    """JSON with spaces inside of braces, as the agent writes it."""
    if isinstance(value, dict):
        inner = ", ".join(f"{quoted(key)}: {spaced(item)}" for key, item in value.items())
        return "{ " + inner + " }" if inner else "{}"
    return quoted(value)


def quoted(value):
    return json.dumps(value, ensure_ascii=False)


def document_text(name, apps, **members):
    source = {"sha256": digest(name), "bytes": 183, "modified": MODIFIED}
    head = {"format": 1, "list": name, "source": source, **members}
    return lines(spaced(head)[:-2] + ', "apps": [', [spaced(app) for app in apps], "] }")


def summary(text, apps):
    count = {status: sum(app.get("status") == status for app in apps) for status in ("ready", "pending", "failed")}
    return {"document": f"lists/{digest(text)}.json", "sha256": digest(text), "apps": len(apps), **count}


def manifest_text(generation, lists, **members):
    head = {"format": 1, "generation": generation, "published": PUBLISHED, **members}
    items = [f"{quoted(name)}: {spaced(lists[name])}" for name in sorted(lists, key=lambda name: name.encode())]
    return lines(spaced(head)[:-2] + ', "lists": {', items, "} }")


class Cache:
    """A cache folder; generations are published as the agent does it, `manifest.json` last."""

    def __init__(self, folder):
        self.folder = folder
        self.generation = 0
        self.make()

    def make(self):
        for name in ("generations", "lists", "icons", "by-url"):
            os.makedirs(self.at(name), exist_ok=True)

    def at(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        """Puts a file in place of another one at once."""
        path = self.at(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".new", "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())
        os.rename(path + ".new", path)

    def image(self, contents, url=None):
        path = image_path(digest(contents))
        if not os.path.exists(self.at(path)):
            self.write(path, contents)
        if url is not None:
            self.name(url_path(url), path)

    def rendition(self, contents, url, *sizes):
        """Writes a rendition, to which the names of a URL lead in these sizes."""
        self.image(contents)
        for size in sizes:
            self.name(size_path(url, size), image_path(digest(contents)))

    def name(self, name, path):
        """Has a name in `by-url` or `by-size` lead to an image."""
        name = self.at(name)
        os.makedirs(os.path.dirname(name), exist_ok=True)
        os.link(self.at(path), name + ".new")
        # Nothing, if both are names of the same file.
        os.rename(name + ".new", name)
        if os.path.exists(name + ".new"):
            os.unlink(name + ".new")

    def publish(self, lists, images=()):
        """Publishes a generation of lists, each with its entries; `images` are (contents, url)."""
        for contents, url in images:
            self.image(contents, url)
        found = {}
        for name, apps in lists.items():
            text = document_text(name, apps)
            if not os.path.exists(self.at(f"lists/{digest(text)}.json")):
                self.write(f"lists/{digest(text)}.json", text)
            found[name] = summary(text, apps)
        self.put_manifest(manifest_text(self.generation + 1, found))

    def publish_document(self, text, name="apps.plist", path=None, **members):
        """Publishes a generation with one document of any text."""
        data = text if isinstance(text, bytes) else text.encode()
        entry = {"document": f"lists/{digest(data)}.json" if path is None else path, "sha256": digest(data), "apps": 1, "ready": 1,
                 "pending": 0, "failed": 0, **members}
        if path is None:
            self.write(entry["document"], data)
        self.put_manifest(manifest_text(self.generation + 1, {name: entry}))

    def put_manifest(self, data):
        self.generation += 1
        name = f"generations/{self.generation}.json"
        self.write(name, data)
        os.link(self.at(name), self.at("manifest.new"))
        os.rename(self.at("manifest.new"), self.at("manifest.json"))

    def is_leased(self, generation):
        with open(self.at(f"generations/{generation}.json"), "rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return False
            except BlockingIOError:
                return True

    def evict(self):
        """Removes what only superseded generations without a lease name, as the agent does without a grace period."""
        kept, gone = set(), []
        for name in os.listdir(self.at("generations")):
            number = int(name.split(".")[0])
            path = self.at(f"generations/{name}")
            with open(path, "rb") as file:
                try:
                    if number != self.generation:
                        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        os.unlink(path)
                        gone.append(file.read())
                        continue
                except BlockingIOError:
                    pass
                kept |= self.names(file.read())
        for name in set().union(*map(self.names, gone)) - kept:
            os.unlink(self.at(name))

    def names(self, manifest):
        """The files that a manifest names."""
        found = set()
        for entry in json.loads(manifest)["lists"].values():
            found.add(entry["document"])
            with open(self.at(entry["document"]), "rb") as file:
                for app in json.load(file)["apps"]:
                    found |= {app["path"]} if "path" in app else set()
                    found |= {rendition["path"] for rendition in app.get("renditions", {}).values()}
        return found

    def remove(self):
        shutil.rmtree(self.folder)
