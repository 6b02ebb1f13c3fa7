# SPDX-License-Identifier: Apache-2.0
"""The cache, images by URL, and snapshots of one generation."""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Callable, Optional, TypeVar, Union

from . import _documents, _files, _lease
from ._entries import BEST_RANK, App, AppList, Image, ListSummary, expect_size, expect_text, size_order
from ._errors import ABSENCE, Damaged, IconCacheError, NoCache, Unreadable, reading_error

if TYPE_CHECKING:
    from ._changes import Changes

Folder = Union[str, "os.PathLike[str]"]
Result = TypeVar("Result")

_SYSTEM_FOLDER = "/var/cache/syncagent"
_GENERATION = re.compile(r"(0|[1-9][0-9]{0,15})\.json")


class IconCache:
    """A cache folder: each call reads it as it is at that moment. Nothing is opened yet, and it need not exist.

    The default is the user's own cache, $XDG_CACHE_HOME/syncagent or else ~/.cache/syncagent. If that does not exist,
    but the system's /var/cache/syncagent does, it is that one. A relative folder is resolved now; an empty one is a
    ValueError.
    """

    __slots__ = ("_folder",)

    def __init__(self, folder: Optional[Folder] = None) -> None:
        path = _default_folder() if folder is None else os.fspath(folder)
        expect_text("folder", path)
        if not path:
            raise ValueError("the cache folder has no name")
        try:
            path = os.path.join(os.getcwd(), path)
        except FileNotFoundError:
            # The current directory was removed: the relative path stays, and every call fails.
            pass
        self._folder = str(Path(path))

    @classmethod
    def open(cls, folder: Optional[Folder] = None) -> Snapshot:
        """Takes a snapshot of a cache: `with IconCache.open() as cache: …`"""
        return cls(folder).snapshot()

    @property
    def folder(self) -> Path:
        """The cache folder, as an absolute path."""
        return Path(self._folder)

    def path(self, url: str, size: Optional[int] = None) -> Optional[Path]:
        """The absolute path of a URL's image; None if it has no image yet, or no list names it.

        `url` is spelled exactly as in the app list. The path stays the same over every refresh, and always leads to a
        complete image. To read several images of one state, take a snapshot.

        With a size in pixels, it is the smallest rendition that was made for at least as many on its longer side, or
        if there is none, the image itself. When an image was replaced, the renditions of the one before can stay for
        some seconds. The path of a rendition does not stay the same: the agent may render other sizes later.
        """
        for name in self._names(url, size):
            path = self._at(name)
            if self._status(path) is not None:
                return Path(path)
        self._expect_manifest()
        return None

    def open_image(self, url: str, size: Optional[int] = None) -> Optional[BinaryIO]:
        """Opens a URL's image for reading, below the cache folder; None if there is none. See path() for `size`."""
        for name in self._names(url, size):
            try:
                return self._open_beneath(name)
            except Unreadable as error:
                if error.errno not in ABSENCE:
                    raise
        self._expect_manifest()
        return None

    def snapshot(self) -> Snapshot:
        """Reads the newest manifest, and takes a lease on it."""
        return Snapshot(self)

    def apps(self, name: str) -> Optional[AppList]:
        """Reads the newest entries of an app list, under a lease; None if there is no such list."""
        expect_text("name", name)
        return self._with_newest(lambda snapshot: snapshot.get(name))

    def entry(self, url: str) -> Optional[App]:
        """The entry of a URL in the newest generation: see Snapshot.entry(). None if no list names it."""
        expect_text("url", url)
        return self._with_newest(lambda snapshot: snapshot.entry(url))

    def changes(self) -> Changes:
        """The current state as if everything had just been added, then every change, in asyncio.

            async with contextlib.aclosing(cache.changes()) as changes:
                async for change in changes:
                    ...

        A publication yields at most one change for each list and each URL: removed lists, then other lists by name,
        then images in the order of their lists, then icons that are gone. If lists give one icon different images, its
        image is that of the entry that counts: see entry(). States that are superseded before they are read are
        skipped. While there is no cache nothing changes.

        An IconCacheError ends the iteration; a new one begins with the whole current state again. A wait that is
        cancelled does not end it, and loses nothing: `await asyncio.wait_for(anext(changes), 5)`. The iteration holds
        no lease: the image of a change stays for the grace period after the last generation that names it was
        superseded, 10 minutes by default. There are no changes without asyncio: other programs compare
        `snapshot().generation` from time to time.
        """
        # Here, because asyncio takes longer to import than all else together.
        from ._changes import Changes

        return Changes(self)

    def __eq__(self, other: object) -> bool:
        return self._folder == other._folder if isinstance(other, IconCache) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._folder)

    def __repr__(self) -> str:
        return f"IconCache({self._folder!r})"

    def _at(self, name: str) -> str:
        return os.path.join(self._folder, name)

    def _names(self, url: str, size: Optional[int]) -> Iterator[str]:
        """The names of a URL's image: those of renditions with enough pixels, the smallest first, then its own."""
        expect_text("url", url)
        digest = hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()
        end = f"{digest[:2]}/{digest}"
        if size is not None:
            expect_size(size)
            for text in self._sizes(size):
                yield f"by-size/{text}/{end}"
        yield f"by-url/{end}"

    def _sizes(self, least: int) -> list[str]:
        """The names of by-size/ that are sizes of at least so many pixels, in ascending order."""
        try:
            names = os.listdir(self._at("by-size"))
        except OSError:
            return []
        sizes = ((size_order(name), name) for name in names)
        return [name for order, name in sorted((order, name) for order, name in sizes if order) if order[0] >= least]

    def _status(self, path: str) -> Optional[os.stat_result]:
        """The status of a file; None if there is none."""
        try:
            return os.stat(path)
        except OSError as error:
            if error.errno in ABSENCE:
                return None
            raise reading_error(path, error) from None

    def _manifest_status(self) -> Optional[os.stat_result]:
        return self._status(self._at("manifest.json"))

    def _expect_manifest(self) -> None:
        if self._manifest_status() is None:
            raise self._absence()

    def _absence(self) -> IconCacheError:
        """The error for a missing manifest: nothing was ever published here, or it was removed."""
        try:
            names = os.listdir(self._at("generations"))
        except OSError:
            names = []
        numbers = [int(found[1]) for found in map(_GENERATION.fullmatch, names) if found]
        if not numbers:
            return NoCache(self._folder)
        return Damaged(
            self._at("manifest.json"), f"it is missing, although generation {max(numbers)} is there"
        )

    def _open_beneath(self, name: str) -> BinaryIO:
        path = self._at(name)
        try:
            return os.fdopen(_files.reopening(lambda: _files.open_beneath(self._folder, name)), "rb")
        except OSError as error:
            if error.errno in (errno.EXDEV, errno.ELOOP):
                raise Damaged(path, "it is a link that leads out of the cache folder") from None
            raise reading_error(path, error) from None

    def _with_newest(self, body: Callable[[Snapshot], Result]) -> Result:
        """Reads from the newest generation, under a lease.

        Where no lease holds, as on some network file systems, a file can be removed while it is read, because newer
        generations do not name it. Then the body runs once more, on the newest generation, if that is another one.
        """
        with self.snapshot() as first:
            try:
                return body(first)
            except IconCacheError as error:
                if not error.may_mean_replaced:
                    raise
                try:
                    newest = self.snapshot()
                except IconCacheError:
                    raise error from None
                with newest:
                    if newest.generation == first.generation:
                        raise
                    return body(newest)


class Snapshot(Mapping[str, AppList]):
    """One generation of a cache under a lease: what its manifest names stays until it is closed.

    It maps the names of app lists to their entries, and reads a list anew each time. It keeps one file open, and
    superseded files on disk: for a day at most, then the agent removes them anyway.
    """

    __slots__ = ("_cache", "_file", "_generation", "_leased", "_lists")

    def __init__(self, cache: IconCache) -> None:
        path = cache._at("manifest.json")
        try:
            file, leased, json = _files.reopening(lambda: _lease.read_leased(path))
        except OSError as error:
            raise (cache._absence() if error.errno in ABSENCE else reading_error(path, error)) from None
        try:
            self._generation, self._lists = _documents.read_manifest(json, path)
        except BaseException:
            file.close()
            raise
        self._cache = cache
        self._file = file
        self._leased = leased

    @property
    def cache(self) -> IconCache:
        return self._cache

    @property
    def generation(self) -> int:
        """The number of the generation, which grows with each publication."""
        return self._generation

    @property
    def leased(self) -> bool:
        """Whether the lease is held.

        It is not on the few file systems without locks, or if another program has an exclusive lock on the manifest.
        Then the files stay for the grace period after the generation is superseded: 10 minutes by default.
        """
        return self._leased and not self._file.closed

    @property
    def lists(self) -> tuple[ListSummary, ...]:
        """The app lists, sorted by the bytes of their names."""
        return tuple(self._lists.values())

    def entry(self, url: str) -> Optional[App]:
        """The entry of a URL in all lists; None if none names it.

        Entries with the icon's own image come first, then those with a previous one, then those without an image; among
        equals, the first list by name counts.
        """
        expect_text("url", url)
        best: Optional[App] = None
        for summary in self._lists.values():
            path, json = self._read(summary)
            found = _documents.find_entry(json, path, summary.name, self._cache._folder, url)
            if found is not None and (best is None or found.rank > best.rank):
                best = found
                if found.rank == BEST_RANK:
                    break
        return best

    def open_image(self, of: Union[App, Image]) -> BinaryIO:
        """Opens an image for reading, below the cache folder. It is a ValueError if the app has none."""
        if not isinstance(of, (App, Image)):
            raise TypeError(f"only the image of an App, or an Image, can be opened, not {type(of).__name__}")
        image = of.image if isinstance(of, App) else of
        if image is None:
            raise ValueError("the app has no image")
        self._expect_open()
        return self._cache._open_beneath(image.name)

    def changes(self) -> Changes:
        """The changes of the cache: see IconCache.changes()."""
        return self._cache.changes()

    def close(self) -> None:
        """Ends the lease; a second call does nothing."""
        self._file.close()

    def __enter__(self) -> Snapshot:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def __getitem__(self, name: str) -> AppList:
        """Reads the document of a list, and checks it against its digest."""
        expect_text("name", name)
        summary = self._lists[name]
        path, json = self._read(summary)
        return AppList(name, _documents.read_document(json, path, name, self._cache._folder))

    def __iter__(self) -> Iterator[str]:
        return iter(self._lists)

    def __len__(self) -> int:
        return len(self._lists)

    def __contains__(self, name: object) -> bool:
        return name in self._lists

    # A comparison by contents would read every list.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<Snapshot of {self._cache._folder!r}, generation {self._generation}>"

    def _read(self, summary: ListSummary) -> tuple[str, bytes]:
        self._expect_open()
        path = self._cache._at(f"lists/{summary.sha256}.json")
        try:
            with _files.open_file(path) as file:
                json = _files.read_file(file.fileno())
        except OSError as error:
            raise reading_error(path, error) from None
        if hashlib.sha256(json).hexdigest() != summary.sha256:
            raise Damaged(path, "its digest differs from the one in the manifest")
        return path, json

    def _expect_open(self) -> None:
        if self._file.closed:
            raise ValueError("the snapshot is closed")


def _default_folder() -> str:
    # The XDG Base Directory Specification says to ignore relative paths in these variables.
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        home = os.environ.get("HOME", "")
        if not os.path.isabs(home):
            return _SYSTEM_FOLDER
        base = os.path.join(home, ".cache")
    own = os.path.join(base, "syncagent")
    return _SYSTEM_FOLDER if not os.path.exists(own) and os.path.exists(_SYSTEM_FOLDER) else own
