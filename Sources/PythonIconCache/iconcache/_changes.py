# SPDX-License-Identifier: Apache-2.0
"""Tells what changes in a cache."""

from __future__ import annotations

import asyncio
import ctypes
import os
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Optional

from . import _files
from ._cache import IconCache, Snapshot
from ._entries import Change, Image
from ._errors import IconCacheError

# How often to look, in seconds, if inotify reports nothing.
_POLLING_INTERVAL = 2.0

_IN_CREATE = 0x100
_IN_MOVED_TO = 0x80
_IN_ONLYDIR = 0x0100_0000


async def changes(cache: IconCache) -> AsyncGenerator[Change, None]:
    # The watch starts first, so that a publication while the current state is read leaves a hint.
    watch = _Watch(cache._folder)
    try:
        reader = _Reader(cache)
        while True:
            # Documents take long to parse.
            for change in await asyncio.to_thread(reader.news):
                yield change
            await watch.hint()
    finally:
        watch.close()


class _Watch:
    """Hints that a folder may have a new manifest: at once by inotify, and periodically in any case.

    Some file systems report nothing (NFS, FUSE), inotify does not follow a folder that is recreated, and each user has
    a limited number of watches. So a hint only means "look again".
    """

    def __init__(self, folder: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._hinted = asyncio.Event()
        self._inotify = _Inotify.create(folder)
        if self._inotify:
            try:
                self._loop.add_reader(self._inotify.file, self._on_events)
            except NotImplementedError:
                self._inotify.close()
                self._inotify = None
        self._timer = self._loop.call_later(_POLLING_INTERVAL, self._on_time)

    async def hint(self) -> None:
        """Waits for the next hint; several are merged into one."""
        await self._hinted.wait()
        self._hinted.clear()

    def close(self) -> None:
        self._timer.cancel()
        if self._inotify:
            if not self._loop.is_closed():
                self._loop.remove_reader(self._inotify.file)
            self._inotify.close()
            self._inotify = None

    def _on_events(self) -> None:
        if self._inotify:
            self._inotify.drain()
        self._hinted.set()

    def _on_time(self) -> None:
        if self._inotify:
            self._inotify.renew()
        self._hinted.set()
        self._timer = self._loop.call_later(_POLLING_INTERVAL, self._on_time)


class _Inotify:
    """An inotify instance that reports new names in one folder."""

    def __init__(self, file: int, folder: str, library: ctypes.CDLL) -> None:
        self.file = file
        self._folder = os.fsencode(folder)
        self._library = library
        self._watch = -1
        self.renew()

    @classmethod
    def create(cls, folder: str) -> Optional[_Inotify]:
        """None if there is no inotify, or the kernel refuses, because each user has a limited number of instances."""
        try:
            library = ctypes.CDLL(None)
            file = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, AttributeError):
            return None
        return cls(file, folder, library) if file >= 0 else None

    def renew(self) -> None:
        """Watches the folder that is at the path now; does nothing if it is watched already."""
        mask = ctypes.c_uint32(_IN_CREATE | _IN_MOVED_TO | _IN_ONLYDIR)
        newest = self._library.inotify_add_watch(self.file, ctypes.c_char_p(self._folder), mask)
        if newest < 0:
            return
        if self._watch not in (-1, newest):
            self._library.inotify_rm_watch(self.file, self._watch)
        self._watch = newest

    def drain(self) -> None:
        """Discards all pending events."""
        try:
            while os.read(self.file, 1 << 16):
                pass
        except OSError:
            pass

    def close(self) -> None:
        os.close(self.file)


class _Reader:
    """Reads what is new since the last call."""

    def __init__(self, cache: IconCache) -> None:
        self._cache = cache
        self._known = KnownState()
        self._newest: Optional[tuple[int, ...]] = None

    def news(self) -> list[Change]:
        """The changes since the last call; none if the manifest is the same file."""
        while (identity := self._identity()) is not None:
            if identity == self._newest:
                return []
            try:
                with self._cache.snapshot() as snapshot:
                    news = self._known.advance(snapshot)
            except IconCacheError:
                # A generation that was superseded and removed during the read is not damaged.
                if self._identity() == identity:
                    raise
                continue
            self._newest = identity
            return news
        return []

    def _identity(self) -> Optional[tuple[int, ...]]:
        status = self._cache._manifest_status()
        return None if status is None else _files.identity(status)


@dataclass
class _Icon:
    image: Image
    lists: int


class KnownState:
    """What is known of a cache, with which the next generation is compared."""

    def __init__(self) -> None:
        # The digest of each list's document, and its ready icons in order.
        self._lists: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._icons: dict[str, _Icon] = {}

    def advance(self, snapshot: Snapshot) -> list[Change]:
        """The changes that lead to a generation. If a document cannot be read, what is known stays as it is."""
        documents: list[tuple[str, str, dict[str, Image]]] = []
        for summary in snapshot.lists:
            if summary.name in self._lists and self._lists[summary.name][0] == summary.sha256:
                continue
            ready: dict[str, Image] = {}
            for app in snapshot[summary.name]:
                if app.image is not None:
                    ready.setdefault(app.icon, app.image)
            documents.append((summary.name, summary.sha256, ready))

        changes: list[Change] = []
        left: list[str] = []
        for name in sorted(name for name in self._lists if name not in snapshot):
            changes.append(Change("list_removed", name, None, None))
            left += self._forget(name)
        for name, _, _ in documents:
            changes.append(Change("list_changed" if name in self._lists else "list_added", name, None, None))
            left += self._forget(name)
        for name, sha256, ready in documents:
            for url, image in ready.items():
                changes += self._hold(url, image)
            self._lists[name] = (sha256, tuple(ready))
        for url in left:
            if url in self._icons and self._icons[url].lists == 0:
                del self._icons[url]
                changes.append(Change("icon_gone", None, url, None))
        return changes

    def _hold(self, url: str, image: Image) -> list[Change]:
        """Adds an icon of a list."""
        icon = self._icons.get(url)
        if icon is None:
            self._icons[url] = _Icon(image, 1)
            return [Change("icon_ready", None, url, image)]
        before, icon.image = icon.image, image
        icon.lists += 1
        return [] if before == image else [Change("icon_replaced", None, url, image)]

    def _forget(self, name: str) -> tuple[str, ...]:
        """Removes the known version of a list; returns the URLs of its icons."""
        _, urls = self._lists.pop(name, ("", ()))
        for url in urls:
            self._icons[url].lists -= 1
        return urls
