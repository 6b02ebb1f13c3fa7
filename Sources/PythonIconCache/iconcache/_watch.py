# SPDX-License-Identifier: Apache-2.0
"""Hints that a folder may have a new manifest."""

from __future__ import annotations

import asyncio
import ctypes
import os
from typing import Optional

# How often to look, in seconds, if inotify reports nothing.
_POLLING_INTERVAL = 2.0

_IN_CREATE = 0x100
_IN_MOVED_TO = 0x80
_IN_ONLYDIR = 0x0100_0000


class Watch:
    """Hints that a folder may have a new manifest: at once by inotify, and periodically in any case.

    Some file systems report nothing (NFS, FUSE), inotify does not follow a folder that is recreated, and each user has
    a limited number of watches. So a hint only means "look again".
    """

    def __init__(self, folder: str) -> None:
        self.is_closed = False
        self._loop = asyncio.get_running_loop()
        self._hinted = asyncio.Event()
        self._inotify = Inotify.create(folder)
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


class Inotify:
    """An inotify instance that reports new names in one folder."""

    def __init__(self, file: int, folder: str, library: ctypes.CDLL) -> None:
        self.file = file
        self._folder = os.fsencode(folder)
        self._library = library
        self._watch = -1
        self.renew()

    @classmethod
    def create(cls, folder: str) -> Optional[Inotify]:
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
