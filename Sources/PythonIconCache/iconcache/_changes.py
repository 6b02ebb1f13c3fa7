# SPDX-License-Identifier: Apache-2.0
"""Tells what changes in a cache."""

from __future__ import annotations

import asyncio
import ctypes
import os
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from typing import Optional

from . import _files
from ._cache import IconCache, Snapshot
from ._entries import App, Change, Image
from ._errors import IconCacheError

# How often to look, in seconds, if inotify reports nothing.
_POLLING_INTERVAL = 2.0

_IN_CREATE = 0x100
_IN_MOVED_TO = 0x80
_IN_ONLYDIR = 0x0100_0000


class Changes(AsyncIterator[Change]):
    """The changes of a cache, for one task at a time: see IconCache.changes().

    A wait that is cancelled, as by asyncio.wait_for(), loses nothing: the next one goes on. What is open is closed by
    aclose(), at an error, when the event loop ends, or when the object is collected.
    """

    def __init__(self, cache: IconCache) -> None:
        self._reader = _Reader(cache)
        self._folder = cache._folder
        self._news: deque[Change] = deque()
        self._watching: Optional[AsyncGenerator[_Watch, None]] = None
        self._watch: Optional[_Watch] = None
        self._reading: Optional[asyncio.Future[list[Change]]] = None
        self._is_waiting = False
        self._is_closed = False

    def __aiter__(self) -> Changes:
        return self

    async def __anext__(self) -> Change:
        if self._is_waiting:
            raise RuntimeError("another task is waiting for these changes: call changes() once for each task")
        self._is_waiting = True
        try:
            return await self._next()
        finally:
            self._is_waiting = False

    async def aclose(self) -> None:
        """Ends the iteration, and closes what it keeps open; a second call does nothing."""
        self._is_closed = True
        self._news.clear()
        if self._watching:
            await self._watching.aclose()

    async def _next(self) -> Change:
        if self._watch is None and not self._is_closed:
            # The watch starts first, so that a publication while the current state is read leaves a hint.
            self._watching = _watching(self._folder)
            self._watch = await self._watching.__anext__()
            self._begin_reading()
        while not self._news:
            if self._watch is None or self._watch.is_closed:
                raise StopAsyncIteration
            if self._reading:
                await self._end_reading(self._reading)
            else:
                await self._watch.hint()
                self._begin_reading()
        return self._news.popleft()

    def _begin_reading(self) -> None:
        # Documents take long to parse.
        self._reading = asyncio.get_running_loop().run_in_executor(None, self._reader.news)

    async def _end_reading(self, reading: asyncio.Future[list[Change]]) -> None:
        try:
            # Its result is for the next iteration if this one is cancelled.
            news = await asyncio.shield(reading)
        except asyncio.CancelledError:
            raise
        except BaseException:
            await self.aclose()
            raise
        self._reading = None
        if not self._is_closed:
            self._news.extend(news)


async def _watching(folder: str) -> AsyncGenerator[_Watch, None]:
    """Yields a watch, and closes it at the end.

    The event loop closes asynchronous generators that are collected, and at its end those that are left.
    """
    watch = _Watch(folder)
    try:
        yield watch
    finally:
        watch.close()


class _Watch:
    """Hints that a folder may have a new manifest: at once by inotify, and periodically in any case.

    Some file systems report nothing (NFS, FUSE), inotify does not follow a folder that is recreated, and each user has
    a limited number of watches. So a hint only means "look again".
    """

    def __init__(self, folder: str) -> None:
        self.is_closed = False
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
        """Waits for the next hint, or for the end; several hints are merged into one."""
        await self._hinted.wait()
        self._hinted.clear()

    def close(self) -> None:
        self.is_closed = True
        self._hinted.set()
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
        if self.file >= 0:
            os.close(self.file)
        self.file = -1

    def __del__(self) -> None:
        # The event loop was closed without an end of its generators.
        self.close()


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


class _Icon:
    """What is known of an icon: the image that was reported, and the lists that have one."""

    __slots__ = ("lists", "sha256")

    def __init__(self) -> None:
        self.sha256: Optional[str] = None
        self.lists: tuple[str, ...] = ()


class _List:
    """What is known of a list: the digest of its document, and its ready icons in order, with rank and image."""

    __slots__ = ("ready", "sha256")

    def __init__(self, sha256: str, apps: Iterable[App]) -> None:
        self.sha256 = sha256
        self.ready: dict[str, tuple[int, Image]] = {}
        for app in apps:
            if app.image is not None and (app.icon not in self.ready or self.ready[app.icon][0] < app.rank):
                self.ready[app.icon] = (app.rank, app.image)


class KnownState:
    """What is known of a cache, with which the next generation is compared.

    The image of an icon is that of the entry that counts among all lists: see Snapshot.entry().
    """

    def __init__(self) -> None:
        self._lists: dict[str, _List] = {}
        self._icons: dict[str, _Icon] = {}

    def advance(self, snapshot: Snapshot) -> list[Change]:
        """The changes that lead to a generation. If a document cannot be read, what is known stays as it is."""
        lists = {
            summary.name: _List(summary.sha256, snapshot[summary.name])
            for summary in snapshot.lists
            if summary.name not in self._lists or self._lists[summary.name].sha256 != summary.sha256
        }
        changes: list[Change] = []
        left: list[str] = []
        for name in sorted(name for name in self._lists if name not in snapshot):
            changes.append(Change("list_removed", name, None, None))
            left += self._forget(name)
        for name in lists:
            changes.append(Change("list_changed" if name in self._lists else "list_added", name, None, None))
            left += self._forget(name)
        for name, known in lists.items():
            self._lists[name] = known
            for url in known.ready:
                self._icons.setdefault(url, _Icon()).lists += (name,)
        for known in lists.values():
            for url in known.ready:
                changes += self._compare(url)
        gone = [url for url in left if not self._icons[url].lists]
        for url in left:
            if self._icons[url].lists:
                changes += self._compare(url)
        for url in gone:
            if self._icons.pop(url, None):
                changes.append(Change("icon_gone", None, url, None))
        return changes

    def _compare(self, url: str) -> list[Change]:
        """The change of an icon that has an image, if that is another one than was reported."""
        icon = self._icons[url]
        name = min(icon.lists, key=lambda name: (-self._lists[name].ready[url][0], name))
        _, image = self._lists[name].ready[url]
        before, icon.sha256 = icon.sha256, image.sha256
        if before == image.sha256:
            return []
        return [Change("icon_ready" if before is None else "icon_replaced", None, url, image)]

    def _forget(self, name: str) -> Iterable[str]:
        """Removes the known version of a list; returns the URLs of its icons."""
        known = self._lists.pop(name, None)
        urls = known.ready if known else {}
        for url in urls:
            icon = self._icons[url]
            icon.lists = tuple(other for other in icon.lists if other != name)
        return urls
