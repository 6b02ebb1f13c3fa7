# SPDX-License-Identifier: Apache-2.0
"""Readers that are broken on purpose, one for each row: `Tests/Conformance/run --broken` shows that the row finds it.

Each is the Python reader, or the library below it, with one text replaced by another.
"""
import glob
import os
import shutil
import subprocess

from library import PROJECT, SOURCES, library

BROKEN = {
    "by-url": ("_cache.py", "text.encode(", "text.lower().encode("),
    "lists": (
        "manifest.c", "int order = strcmp(one->name, other->name);", "int order = strcasecmp(one->name, other->name);"),
    "states": ("document.c", '"pending", 7)', '"waiting", 7)'),
    "previous": (
        "apps.c", "if (has_previous || entry->state == ICONCACHE_FAILED)", "if (entry->state == ICONCACHE_FAILED)"),
    "entry": ("apps.c", "entry_rank(entry) > search->best", "entry_rank(entry) >= search->best"),
    "images": ("_entries.py", 'f"icons/{self.sha256[:2]}', 'f"icons/{self.sha256[-2:]}'),
    "renditions": ("_entries.py", "size_order(text)[0] >= pixels", "image.width >= pixels"),
    "by-size": ("names.c", "size_compare(size, next) < 0", "size_compare(size, next) > 0"),
    "large": ("_cache.py", "return [*_read(found, self._folder)]", "return [*_read(found, self._folder)][:10000]"),
    "lease": (
        "snapshot.c", "if (is_still_at(path, snapshot->file, &error)) return 0;",
        "flock(snapshot->file, LOCK_UN); if (is_still_at(path, snapshot->file, &error)) return 0;"),
    "locked": ("snapshot.c", "LOCK_SH | LOCK_NB", "LOCK_SH"),
    "replaced": (
        "snapshot.c", "if (is_still_at(path, snapshot->file, &error)) return 0;",
        "flock(snapshot->file, LOCK_UN); usleep(200000); (void)is_still_at; return 0;"),
    "held": (
        "snapshot.c", "if (is_still_at(path, snapshot->file, &error)) return 0;",
        "flock(snapshot->file, LOCK_UN); (void)is_still_at; return 0;"),
    "changes": (
        "known.c", "if (is_same) return true;", "if (claim != NULL && icon->has_image) return true; (void)is_same;"),
    "two-images": (
        "known.c", "strcmp(claim->list->name, best->list->name) < 0",
        "strcmp(claim->list->name, best->list->name) > 0"),
    "vanished": (
        "snapshot.c", "int error = file_open(path, &snapshot->file);",
        "static int root = -1; if (root < 0) root = open(snapshot->cache->folder, O_PATH);\n"
        'snapshot->file = openat(root, "manifest.json", O_RDONLY); int error = snapshot->file < 0 ? errno : 0;'),
    "watched-absence": ("signals.c", " || start(signals->timer) != 0", ""),
    "descriptors": (
        "file.c", "error = file_read(file, bytes, size);\n    close(file);", "error = file_read(file, bytes, size);"),
    "default-folder": ("iconcache.c", "value != NULL && value[0] == '/'", "value != NULL && value[0] != '\\0'"),
    "relative-folder": ("iconcache.c", "joined(here, folder)", "joined(folder, NULL)"),
    "no-cache": (
        "iconcache.c", "int64_t newest = newest_generation(cache);", "int64_t newest = -1; (void)newest_generation;"),
    "copy": (
        "_cache.py", "        return None if code == _library.ABSENT",
        "        os.stat(self.folder / 'by-url')\n        return None if code == _library.ABSENT"),
    "read-only": ("file.c", "FLAGS = O_RDONLY", "FLAGS = O_RDWR"),
    "later-format": ("document.c", "seen == 15 && format == 1", "seen == 15 && format >= 1"),
    "unknown-keys": ("document.c", "    default: return json_skip(parser);", "    default: return false;"),
    "any-layout": ("json.c", "*p == '\\r' || *p == '\\t')", "*p == '\\r')"),
    "damaged": ("document.c", "entry->bytes < 0 || entry->width < 0", "entry->width < 0"),
    "damaged-renditions": ("rendition.c", "rendition->bytes < 0 || ", ""),
    "damaged-manifests": ("manifest.c", "|| number < 0) return false;", ") return false;"),
    "paths": ("format.c", "if (!is_allowed) return false;", "(void)is_allowed;"),
    "links": ("file.c", ".resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS", ".resolve = 0"),
    "special-files": ("file.c", "FLAGS | O_NONBLOCK | flags", "FLAGS | flags"),
}


def breaking(row, work):
    """Makes the broken reader of a row; returns the variables of its environment."""
    name, before, after = BROKEN[row]
    package = os.path.join(work, "module/iconcache")
    source = os.path.join(PROJECT, "Sources/PythonIconCache/iconcache")
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("__pycache__"))
    if name.endswith(".py"):
        replace(row, os.path.join(package, name), os.path.join(package, name), before, after)
        return [f"PYTHONPATH={work}/module", f"ICONCACHE_LIBRARY={library()}"]
    replace(row, os.path.join(SOURCES, name), os.path.join(work, name), before, after)
    others = [path for path in glob.glob(f"{SOURCES}/*.c") if os.path.basename(path) != name]
    subprocess.run(
        [os.environ.get("CC", "cc"), "-std=c11", "-D_GNU_SOURCE", "-w", "-shared", "-fPIC", "-I", SOURCES,
         os.path.join(work, name), *others, "-o", f"{work}/libiconcache.so.0"], check=True)
    return [f"PYTHONPATH={work}/module", f"ICONCACHE_LIBRARY={work}/libiconcache.so.0"]


def replace(row, source, target, before, after):
    with open(source) as file:
        text = file.read()
    if before not in text:
        raise SystemExit(f"broken.py, {row}: {os.path.basename(source)} has no “{before}” any more")
    with open(target, "w") as file:
        file.write(text.replace(before, after, 1))
