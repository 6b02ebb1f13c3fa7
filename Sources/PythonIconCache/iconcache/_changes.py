# SPDX-License-Identifier: Apache-2.0
"""Tells what changes in a cache."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TYPE_CHECKING, Optional

from . import _files
from ._entries import Change
from ._errors import IconCacheError
from ._known import KnownState
from ._watch import Watch

if TYPE_CHECKING:
    from ._cache import IconCache


class Changes(AsyncIterator[Change]):
    """The changes of a cache, for one task at a time: see IconCache.changes().

    A wait that is cancelled, as by asyncio.wait_for(), loses nothing: the next one goes on. What is open is closed by
    aclose(), at an error, when the event loop ends, or when the object is collected.
    """

    def __init__(self, cache: IconCache) -> None:
        self._reader = _Reader(cache)
        self._folder = cache._folder
        self._news: deque[Change] = deque()
        self._watching: Optional[AsyncGenerator[Watch, None]] = None
        self._watch: Optional[Watch] = None
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


async def _watching(folder: str) -> AsyncGenerator[Watch, None]:
    """Yields a watch, and closes it at the end.

    The event loop closes asynchronous generators that are collected, and at its end those that are left.
    """
    watch = Watch(folder)
    try:
        yield watch
    finally:
        watch.close()


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
