# SPDX-License-Identifier: Apache-2.0
"""Prints what is in a cache, one line for each thing, with tabs between its fields."""

import argparse
import io
import os
import sys
import time
from collections.abc import Iterator

from . import IconCache, IconCacheError, __version__, _library


def rows(options: argparse.Namespace) -> Iterator[tuple[object, ...]]:
    cache, of = IconCache(options.cache), options.of or ""
    if options.command == "path":
        if not (path := cache.path(of, options.size)):
            raise ValueError(f"There is no image of {shown(of)} in {cache.folder}. To see why: syncagent why URL")
        yield (path,)
    elif options.command == "apps":
        if (apps := cache.apps(of)) is None:
            names = ", ".join(shown(found.name) for found in cache.snapshot().lists) or "no list"
            raise ValueError(f"There is no app list {shown(of)} in {cache.folder}. There is {names}.")
        yield from ((app.status, app.name, app.icon, app.path or app.error) for app in apps)
    elif options.command == "lists":
        yield from ((found.name, found.apps, found.ready, found.failed) for found in cache.snapshot().lists)
    else:
        watch, last = cache.watch(options.timeout), time.monotonic()
        while True:
            try:
                for change in watch:
                    last = time.monotonic()
                    yield change.kind, change.list or change.url, change.image and change.image.path
                return
            except IconCacheError as error:
                # The watch raises one that lasts every two seconds.
                if options.timeout is not None and time.monotonic() + 2 > last + options.timeout:
                    raise
                print(f"iconcache: {error}", file=sys.stderr, flush=True)


def shown(field: object) -> str:
    """Texts of others may hold what moves a cursor."""
    return "".join(char if char.isprintable() else "?" for char in str("" if field is None else field))


parser = argparse.ArgumentParser(prog="python -m iconcache", description=__doc__)
parser.add_argument("--version", action="version", version=f"iconcache {__version__}, libiconcache {_library.version}")
parser.add_argument("--cache", metavar="FOLDER", help="the cache folder (default: your own, or the system's)")
parser.add_argument("--size", type=int, metavar="PIXELS", help="those in which the image of a path is shown")
parser.add_argument("--timeout", type=float, metavar="SECONDS", help="end a watch when nothing changes for so long")
parser.add_argument("command", choices=("path", "apps", "lists", "watch"))
parser.add_argument("of", nargs="?", metavar="URL|LIST", help="the URL of a path, or the list whose apps to print")
options = parser.parse_args()
if (options.command in ("path", "apps")) != bool(options.of):
    parser.error("path takes a URL, apps the name of a list, and lists and watch take neither")
if options.command != "path" and isinstance(sys.stdout, io.TextIOWrapper):
    # A locale may lack characters of a name. A path that is not printed as it is leads nowhere.
    sys.stdout.reconfigure(errors="replace")
try:
    for row in rows(options):
        print(*map(shown, row), sep="\t", flush=True)
except (IconCacheError, ValueError) as error:
    sys.exit(f"iconcache: {error}")
except KeyboardInterrupt:
    sys.exit(1)
except OSError as error:
    if not isinstance(error, BrokenPipeError):
        print(f"iconcache: Cannot write the output: {error.strerror}.", file=sys.stderr)
    # An end that is not as quick writes what is left once more, and fails with a message of its own.
    os._exit(1)
