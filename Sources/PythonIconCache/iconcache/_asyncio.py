# SPDX-License-Identifier: Apache-2.0
"""Tells what changes in a cache, in asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Optional

from ._cache import IconCache, Watch
from ._entries import Change


class Changes(AsyncIterator[Change]):
    """The changes of a cache, for one task at a time: see IconCache.changes()."""

    _next: Optional[asyncio.Future[Change]] = None
    _is_waiting = _is_closed = False

    def __init__(self, cache: IconCache) -> None:
        self._changes = _changes(cache)

    async def __anext__(self) -> Change:
        if self._is_waiting:
            raise RuntimeError("another task is waiting for these changes: call changes() once for each task")
        if self._is_closed:
            raise StopAsyncIteration
        self._is_waiting = True
        # It goes on when a wait for it is cancelled.
        following = self._next = self._next or asyncio.ensure_future(self._changes.__anext__())
        try:
            change = await asyncio.shield(following)
        except asyncio.CancelledError as error:
            raise StopAsyncIteration if self._is_closed else error from None
        except BaseException:
            self._next = None
            raise
        finally:
            self._is_waiting = False
        self._next = None
        return change

    async def aclose(self) -> None:
        """Ends the iteration, and closes what it keeps open; a second call does nothing."""
        self._is_closed = True
        if self._next:
            self._next.cancel()
            await asyncio.wait([self._next])
        await self._changes.aclose()

    def __del__(self) -> None:
        if self._next and not self._next.get_loop().is_closed():
            self._next.cancel()


async def _changes(cache: IconCache) -> AsyncGenerator[Change, None]:
    """Yields the changes. The event loop closes generators that are collected, and at its end those that are left."""
    loop, hinted = asyncio.get_running_loop(), asyncio.Event()
    with Watch(cache) as watch:
        while True:
            # Files can take long to read.
            changes, error = await loop.run_in_executor(None, watch.pending)
            for change in changes:
                yield change
            if error:
                raise error
            hinted.clear()
            loop.add_reader(watch, hinted.set)
            try:
                await hinted.wait()
            finally:
                if not loop.is_closed():
                    loop.remove_reader(watch)
