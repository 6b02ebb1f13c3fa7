# SPDX-License-Identifier: Apache-2.0
"""The cache, images by URL, snapshots of one generation, and changes."""

from __future__ import annotations

import os
import select
import threading
import time
import weakref
from collections.abc import Iterator, Mapping
from ctypes import Structure, byref, c_char, c_void_p
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Callable, Optional, TypeVar, Union, get_args

from . import _library
from ._entries import App, AppList, Change, ChangeKind, Image, ListSummary, Renditions, Status, checked
from ._errors import IconCacheError, call
from ._library import library, quick

if TYPE_CHECKING:
    from ._asyncio import Changes

Folder = Union[str, "os.PathLike[str]"]
Self = TypeVar("Self", bound="_Handle")
Result = TypeVar("Result")

_NO_RENDITIONS = Renditions()
# In the order of their numbers.
_STATUSES, _KINDS = get_args(Status), get_args(ChangeKind)
# Few different ones for very many images.
_word = lru_cache(maxsize=256)(bytes.decode)


@dataclass(init=False, unsafe_hash=True)
class IconCache:
    """A cache folder: each call reads it as it is at that moment. Nothing is opened yet, and it need not exist.

    The default is the user's own cache, $XDG_CACHE_HOME/syncagent or else ~/.cache/syncagent. If that does not exist,
    but the system's /var/cache/syncagent does, it is that one. A relative folder is resolved now; an empty one is a
    ValueError. `folder` is the absolute path. Different threads may use one cache at once.
    """

    folder: Path

    def __init__(self, folder: Optional[Folder] = None) -> None:
        name = None if folder is None else os.fsencode(Path(folder))
        if folder is not None and not os.fspath(folder) or b"\0" in (name or b""):
            raise ValueError("the cache folder has no name, or one with a null character")
        self._pointer = _made(os.fsdecode(name or b""), library.iconcache_new, library.iconcache_free, name)
        self._folder = os.fsdecode(quick.iconcache_folder(self._pointer))
        self._buffer = c_char * quick.iconcache_path_size(self._pointer)
        self.folder = Path(self._folder)

    @classmethod
    def open(cls, folder: Optional[Folder] = None) -> Snapshot:
        """Takes a snapshot of a cache: `with IconCache.open() as cache: …`"""
        return cls(folder).snapshot()

    def path(self, url: str, size: Optional[int] = None) -> Optional[Path]:
        """The absolute path of a URL's image; None if it has no image yet, or no list names it.

        `url` is spelled exactly as in the app list. The path stays the same over every refresh, and always leads to a
        complete image. To read several images of one state, take a snapshot. With a size in pixels, it is the smallest
        rendition that was made for at least as many on its longer side, or if there is none, the image itself. The path
        of a rendition does not stay the same, and renditions can be older than the image by some seconds.
        """
        buffer = self._buffer()
        code = self._look(library.iconcache_path_for_pixels, url, size, buffer, len(buffer))
        return None if code == _library.ABSENT else Path(os.fsdecode(buffer.value))

    def open_image(self, url: str, size: Optional[int] = None) -> Optional[BinaryIO]:
        """Opens a URL's image for reading, below the cache folder; None if there is none. See path() for `size`."""
        file = self._look(library.iconcache_open_for_pixels, url, size)
        return None if file == _library.ABSENT else os.fdopen(file, "rb")

    def snapshot(self) -> Snapshot:
        """Reads the newest manifest, and takes a lease on it."""
        return Snapshot(self)

    def apps(self, name: str) -> Optional[AppList]:
        """Reads the newest entries of an app list, under a lease; None if there is no such list."""
        return self._with_newest(lambda snapshot: snapshot.get(name))

    def entry(self, url: str) -> Optional[App]:
        """The entry of a URL in the newest generation: see Snapshot.entry(). None if no list names it."""
        return self._with_newest(lambda snapshot: snapshot.entry(url))

    def apps_named(self, name: str) -> list[App]:
        """The entries of a name in all lists of the newest generation, the best first: see Snapshot.apps_named()."""
        return self._with_newest(lambda snapshot: snapshot.apps_named(name))

    def watch(self, timeout: Optional[float] = None) -> Watch:
        """The current state as if everything had just been added, then every change: `for change in cache.watch(): …`

        The loop ends when nothing changes for `timeout` seconds, and another one goes on from there; by default it
        waits for ever. With 0 it never waits: poll fileno() in an event loop of your own. An IconCacheError loses
        nothing: another loop tries again.

        A publication yields at most one change for each list and each URL: removed lists, then other lists by name,
        then images in the order of their lists, then icons that are gone. If lists give one icon different images, its
        image is that of the entry that counts: see entry(). States that are superseded before they are read are
        skipped. A watch holds no lease: an image stays for the grace period after it was superseded.
        """
        return Watch(self, timeout)

    def changes(self) -> Changes:
        """The same changes in asyncio: `async for change in cache.changes(): …`

        An IconCacheError ends the iteration; a new one begins with the whole current state again. A wait that is
        cancelled does not end it, and loses nothing: `await asyncio.wait_for(anext(changes), 5)`. aclose() ends it, and
        closes what is open, as do an error, the end of the event loop, and the collection of the object.
        """
        # Here, because asyncio takes longer to import than all else together.
        from ._asyncio import Changes

        return Changes(self)

    def __reduce__(self) -> tuple[type[IconCache], tuple[str]]:
        return IconCache, (self._folder,)

    def _look(self, function: Callable[..., int], url: str, size: Optional[int], *others: object) -> int:
        """Looks for an image; at first without an error: to say why there is none, the library may read lists."""
        arguments = self._pointer, _encoded("url", url), 0 if size is None else checked(size), *others
        result = function(*arguments, None)
        return result if result >= _library.ABSENT else call(self._folder, function, *arguments)

    def _with_newest(self, body: Callable[[Snapshot], Result]) -> Result:
        """Reads from the newest generation, and once more if a file was removed: where no lease holds, as on NFS."""
        with self.snapshot() as first:
            try:
                return body(first)
            except IconCacheError as error:
                if not error.may_mean_replaced:
                    raise
        with self.snapshot() as newest:
            return body(newest)


class _Pointer(c_void_p):
    """It can be referred to weakly: what it leads to is freed when nobody has it."""


def _made(folder: str, make: Callable[..., int], free: Callable[..., None], argument: object) -> _Pointer:
    """What a function of the library makes. It keeps the argument, as another object must outlive it."""
    pointer = _Pointer()
    call(folder, make, argument, byref(pointer))
    # When the process ends, other threads may still use it.
    weakref.finalize(pointer, lambda address, _: free(address), pointer.value, argument).atexit = False
    return pointer


class _Handle:
    """An object of the library, for one thread at a time. It may be closed by another one."""

    def __init__(self, cache: IconCache, make: Callable[..., int], free: Callable[..., None]) -> None:
        self._folder, self._lock = cache._folder, threading.Lock()
        self._pointer: Optional[_Pointer] = _made(self._folder, make, free, cache._pointer)

    def _use(self, body: Callable[[_Pointer], Result]) -> Result:
        pointer = self._pointer
        if pointer is None:
            raise ValueError(f"the {type(self).__name__.lower()} is closed")
        with self._lock:
            return body(pointer)

    def close(self) -> None:
        """Closes what it keeps open, once no other thread uses it; a second call does nothing."""
        self._pointer = None

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Snapshot(_Handle, Mapping[str, AppList]):
    """One generation of a `cache` under a lease: what its manifest names stays until it is closed.

    It maps the names of app lists to their entries, and reads a list anew each time. `lists` has the summaries of all,
    sorted by the bytes of their names. The number `generation` grows with each publication. A snapshot keeps one file
    open, and superseded files on disk: for a day at most, then the agent removes them anyway.
    """

    def __init__(self, cache: IconCache) -> None:
        super().__init__(cache, library.iconcache_snapshot_new, library.iconcache_snapshot_free)
        self.cache = cache
        self.generation: int = quick.iconcache_snapshot_generation(self._pointer)
        indices = range(quick.iconcache_snapshot_lists(self._pointer))
        addresses = (quick.iconcache_snapshot_list(self._pointer, index) for index in indices)
        found = (_library.List.from_address(address).members for address in addresses)
        self.lists = tuple(ListSummary(name.decode(), sha256.decode(), *counts) for name, sha256, *counts in found)
        self._names = dict.fromkeys(summary.name for summary in self.lists)

    @property
    def leased(self) -> bool:
        """Whether the lease is held. Without, as on the few file systems that have no locks, or beside an exclusive
        lock of another program, files stay for the grace period after the generation is superseded."""
        return (pointer := self._pointer) is not None and bool(quick.iconcache_snapshot_is_leased(pointer))

    def entry(self, url: str) -> Optional[App]:
        """The entry of a URL in all lists, the first in the order of apps_named(); None if none names it."""
        return next(iter(self._apps(library.iconcache_apps_of_url, _encoded("url", url))), None)

    def apps_named(self, name: str) -> list[App]:
        """The entries of a name in all lists; an empty list if no app has that name.

        Apps may share a name, which is compared exactly. Entries with the icon's own image come first, then those with
        a previous one, then those without an image; among equals, the order is that of the lists by name, then of the
        entries in a list. So the first one is that of `syncagent path --app`.
        """
        return self._apps(library.iconcache_apps_of_name, _encoded("name", name))

    def open_image(self, of: Union[App, Image]) -> BinaryIO:
        """Opens an image for reading, below the cache folder. It is a ValueError if the app has none."""
        if not isinstance(of, (App, Image)):
            raise TypeError(f"only the image of an App, or an Image, can be opened, not {type(of).__name__}")
        image = of.image if isinstance(of, App) else of
        if image is None:
            raise ValueError("the app has no image")
        # An image of another folder, such as a copy, is the same as that of this one.
        path = os.fsencode(os.path.join(self._folder, image.name)).replace(b"\0", b"\xff")
        found, function = byref(_library.Image(path=path)), library.iconcache_snapshot_open
        return os.fdopen(self._use(lambda snapshot: call(self._folder, function, snapshot, found)), "rb")

    def changes(self) -> Changes:
        """The changes of the cache: see IconCache.changes()."""
        return self.cache.changes()

    def __getitem__(self, name: str) -> AppList:
        """Reads the document of a list, and checks it against its digest."""
        encoded = _encoded("name", name)
        if name not in self._names:
            raise KeyError(name)
        return AppList(name, self._apps(library.iconcache_apps_new, encoded))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    # A comparison by contents would read every list.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<Snapshot of {self._folder!r}, generation {self.generation}>"

    def _apps(self, read: Callable[..., int], key: bytes) -> list[App]:
        """The entries that a function of the library gives for a key."""
        # It keeps the snapshot, even if that is closed meanwhile. Other threads may use it while entries are read.
        found, pointer = c_void_p(), self._pointer
        try:
            self._use(lambda snapshot: call(self._folder, read, snapshot, key, byref(found)))
            return [*_read(found, self._folder)]
        finally:
            library.iconcache_apps_free(found)
            del pointer


class Watch(_Handle, Iterator[Change]):
    """The changes of a cache, for one thread at a time: see IconCache.watch()."""

    def __init__(self, cache: IconCache, timeout: Optional[float] = None) -> None:
        super().__init__(cache, library.iconcache_watch_new, library.iconcache_watch_free)
        self.timeout = timeout
        self._following = library.iconcache_watch_next

    def fileno(self) -> int:
        """A descriptor to be polled for input. Take all changes before you first poll, and when there is input."""
        return int(self._use(quick.iconcache_watch_descriptor))

    def __next__(self) -> Change:
        end = time.monotonic() + (float("inf") if self.timeout is None else self.timeout)
        # What is waited for stays open if another thread closes the watch. Its next signal ends the wait: in 2 seconds.
        pointer = self._pointer
        while (change := self._use(self._take)) is None:
            if (left := end - time.monotonic()) <= 0:
                raise StopIteration
            poll = select.poll()
            poll.register(quick.iconcache_watch_descriptor(pointer), select.POLLIN)
            # poll(2) takes no more than some weeks.
            poll.poll(min(left, 86_400) * 1000)
        return change

    def pending(self) -> tuple[list[Change], Optional[IconCacheError]]:
        """All changes there are by now, without waiting, and the error after them."""
        changes: list[Change] = []
        try:
            while change := self._use(self._take):
                changes.append(change)
        except IconCacheError as error:
            return changes, error
        return changes, None

    def _take(self, watch: _Pointer) -> Optional[Change]:
        """The next change of a kind that is known here; None if there is none for now."""
        found = c_void_p()
        while True:
            # Only the first call after a wait is likely to read files.
            following, self._following = self._following, library.iconcache_watch_next
            if call(self._folder, following, watch, byref(found)) == _library.ABSENT:
                return None
            self._following = quick.iconcache_watch_next
            change = _library.Change.from_address(found.value or 0)
            if change.kind < len(_KINDS):
                image = change.image and _image(_library.Image.from_address(change.image), self._folder)
                return Change(_KINDS[change.kind], _text(change.list), _text(change.url), image)


def _read(apps: c_void_p, folder: str) -> Iterator[App]:
    # Entries are usually at the same place, one after the other.
    kinds = (_library.App, _library.Image, _library.Rendition)
    app_at, image_at, rendition_at = (lru_cache(maxsize=None)(kind.from_address) for kind in kinds)
    while address := quick.iconcache_apps_next(apps):
        name, id, download, icon, expected, status, image, previous, since, error, count, at = app_at(address).members
        made = _NO_RENDITIONS
        if count:
            sizes = [rendition_at(address) for address in (c_void_p * count).from_address(at)]
            made = Renditions({_word(size.size): _image(image_at(size.image), folder) for size in sizes})
        yield App(
            _text(name), _text(id), icon.decode(), _text(download), _text(expected), _STATUSES[status],
            image and _image(image_at(image), folder), _text(previous), _text(since), _text(error, _word), made,
        )  # fmt: skip


def _image(structure: Structure, folder: str) -> Image:
    path, sha256, kind, size, width, height = structure.members
    return Image(folder, sha256.decode(), _word(path[path.rindex(b".") + 1 :]), size, _word(kind), width, height)


def _text(found: Optional[bytes], decode: Callable[[bytes], str] = bytes.decode) -> Optional[str]:
    return None if found is None else decode(found)


def _encoded(what: str, text: str) -> bytes:
    """A text for the library. One with U+0000 is nowhere, and nor is one that is not UTF-8."""
    if not isinstance(text, str):
        raise TypeError(f"{what} must be str, not {type(text).__name__}")
    return text.encode("utf-8", "surrogatepass").replace(b"\0", b"\xff")
