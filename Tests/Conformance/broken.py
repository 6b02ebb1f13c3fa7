# SPDX-License-Identifier: Apache-2.0
"""Readers that are broken on purpose, one for each row: `Tests/Conformance/run --broken` shows that the row finds it.

Each is the Python reader with one text replaced by another.
"""
import os
import shutil

BROKEN = {
    "by-url": ("_cache", "hashlib.sha256(url.encode(", "hashlib.sha256(url.lower().encode("),
    "lists": ("_documents", "for name in sorted(lists)}", "for name in sorted(lists, key=str.lower)}"),
    "states": ("_documents", 'elif word == "pending":', 'elif word == "waiting":'),
    "previous": ("_documents", 'error = get("error")\n                previous_since', "previous_since"),
    "entry": ("_cache", "found.rank > best.rank", "found.rank >= best.rank"),
    "images": ("_entries", 'f"icons/{self.sha256[:2]}', 'f"icons/{self.sha256[-2:]}'),
    "renditions": ("_entries", "_order(text)[0] >= size", "image.width >= size"),
    "by-size": ("_cache", "for order, name in sizes if order)", "for order, name in sizes if order)[::-1]"),
    "large": ("_documents", "while start < stop:", "while start < min(stop, 30 << 19):"),
    "lease": ("_lease", "return file, leased\n", "fcntl.flock(file, fcntl.LOCK_UN); return file, leased\n"),
    "locked": ("_lease", "fcntl.LOCK_SH | fcntl.LOCK_NB", "fcntl.LOCK_SH"),
    "replaced": (
        "_lease", "if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):",
        "fcntl.flock(file, fcntl.LOCK_UN); __import__('time').sleep(0.2)\n            if True:"),
    "held": (
        "_lease", "if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):",
        "fcntl.flock(file, fcntl.LOCK_UN)\n            if True:"),
    "changes": ("_known", "if before == image.sha256:", "if before:"),
    "two-images": ("_known", "key=lambda name: (-self._lists[name].ready[url][0], name)", "key=str"),
    "vanished": ("_cache", "return os.path.join(self._folder, name)", "return _kept(self._folder, name)"),
    "watched-absence": ("_watch", "            self._inotify.renew()\n        self._hinted.set()\n", "            pass\n"),
    "descriptors": ("_cache", "with _files.open_file(path) as file:",
        "os.open(path, os.O_RDONLY)\n            with _files.open_file(path) as file:"),
    "default-folder": ("_cache", 'if not os.path.isabs(base):\n        home', "if not base:\n        home"),
    "relative-folder": ("_cache", "path = os.path.join(os.getcwd(), path)", "pass"),
    "no-cache": ("_cache", "os.listdir(self._at(\"generations\"))", "[]"),
    "copy": ("_cache", "        self._expect_manifest()\n        return None\n\n    def open_image", "        os.stat(self._at('by-url'))\n        return None\n\n    def open_image"),
    "read-only": ("_files", "flags = os.O_RDONLY | os.O_CLOEXEC", "flags = os.O_RDWR | os.O_CLOEXEC"),
    "later-format": ("_documents", "if version != FORMAT:", "if version < FORMAT:"),
    "unknown-keys": ("_documents", "kind = _KINDS.get(key)", "kind = _KINDS[key]"),
    "any-layout": ("_documents", "    root = _root(json, path)\n    _check_head", "    raise Damaged(path, '')\n    _check_head"),
    "damaged": ("_documents", "if size < 0 or width < 0 or height < 0:", "if width < 0 or height < 0:"),
    "damaged-renditions": ("_documents", '= natural(get("bytes")),', '= integer(get("bytes")),'),
    "damaged-manifests": ("_documents", "if apps is None or", "if False and apps is None or"),
    "paths": ("_documents", "or not _SUFFIX.fullmatch(suffix)", "or not suffix"),
    "links": ("_files", "_RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS)", "0)"),
    "special-files": ("_files", "open_with(flags | os.O_NONBLOCK)", "open_with(flags)"),
}


def breaking(row, work):
    """Makes the broken reader of a row; returns the folder that has its module."""
    module = os.path.join(work, "module")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Sources/PythonIconCache/iconcache")
    shutil.copytree(source, os.path.join(module, "iconcache"), ignore=shutil.ignore_patterns("__pycache__"))
    name, before, after = BROKEN[row]
    path = os.path.join(module, "iconcache", f"{name}.py")
    with open(path) as file:
        text = file.read()
    if before not in text:
        raise SystemExit(f"broken.py, {row}: {name}.py has no “{before}” any more")
    text = text.replace(before, after, 1)
    if "_kept(" in after:
        text += "\n_first = {}\n\n\ndef _kept(folder, name):\n    try:\n        root = _first.setdefault(folder, None)" \
                " or os.open(folder, os.O_PATH)\n    except OSError:\n        return os.path.join(folder, name)\n" \
                "    _first[folder] = root\n    return f'/proc/self/fd/{root}/{name}'\n"
    with open(path, "w") as file:
        file.write(text)
    return module
