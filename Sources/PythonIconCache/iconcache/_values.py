# SPDX-License-Identifier: Apache-2.0
"""Objects of the library, and how what they give is copied into values of Python."""

from __future__ import annotations

import threading
import weakref
from ctypes import Structure, byref, c_void_p
from functools import lru_cache
from operator import attrgetter
from typing import Callable, Optional, TypeVar, get_args

from . import _library
from ._entries import NO_RENDITIONS, App, Change, ChangeKind, Image, ListSummary, Renditions, Status
from ._errors import call
from ._library import library, quick

# In the order of their numbers.
_STATUSES, _KINDS = get_args(Status), get_args(ChangeKind)
# All members at once.
_app, _image_members, _list = (
    attrgetter(*(field[0] for field in structure._fields_))
    for structure in (_library.App, _library.Image, _library.List)
)
Self = TypeVar("Self", bound="Handle")
Result = TypeVar("Result")


class _Pointer(c_void_p):
    """It can be referred to weakly: what it leads to is freed when nobody has it."""


class Handle:
    """An object of the library, for one thread at a time. It may be closed by another one."""

    def __init__(self, folder: str, kind: str, argument: object, parent: Optional[_Pointer] = None) -> None:
        self._folder, self._lock, pointer = folder, threading.Lock(), _Pointer()
        call(folder, getattr(library, f"iconcache{kind}_new"), argument, byref(pointer))
        free = getattr(library, f"iconcache{kind}_free")
        # It keeps the parent, which must outlive it. When the process ends, other threads may still use it.
        weakref.finalize(pointer, lambda address, _: free(address), pointer.value, parent).atexit = False
        self._pointer: Optional[_Pointer] = pointer

    def _use(self, body: Callable[[c_void_p], Result]) -> Result:
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


def read_apps(apps: c_void_p, folder: str) -> list[App]:
    """The entries that follow."""
    # Entries are usually at the same place, one after the other.
    kinds = (_library.App, _library.Image, _library.Rendition)
    app_at, image_at, rendition_at = (lru_cache(maxsize=None)(kind.from_address) for kind in kinds)
    following, found = quick.iconcache_apps_next, []
    while address := following(apps):
        name, id, download, icon, expected, status, image, previous, since, error, count, first = _app(app_at(address))
        made = NO_RENDITIONS
        if count:
            sizes = [rendition_at(address) for address in (c_void_p * count).from_address(first)]
            made = Renditions({_word(size.size): _image(image_at(size.image), folder) for size in sizes})
        found.append(App(
            _text(name), _text(id), icon.decode(), _text(download), _text(expected), _STATUSES[status],
            _image(image_at(image), folder) if image else None, _text(previous), _text(since),
            _text(error, _word), made,
        ))  # fmt: skip
    return found


def _image(structure: Structure, folder: str) -> Image:
    path, sha256, kind, size, width, height = _image_members(structure)
    return Image(folder, sha256.decode(), _word(path[path.rindex(b".") + 1 :]), size, _word(kind), width, height)


def read_change(address: Optional[int], folder: str) -> Optional[Change]:
    """A change; None if it has a kind of a later version."""
    change = _library.Change.from_address(address or 0)
    if change.kind >= len(_KINDS):
        return None
    image = _image(_library.Image.from_address(change.image), folder) if change.image else None
    return Change(_KINDS[change.kind], _text(change.list), _text(change.url), image)


def read_list(address: int) -> ListSummary:
    """The summary of a list."""
    name, sha256, *counts = _list(_library.List.from_address(address))
    return ListSummary(name.decode(), sha256.decode(), *counts)


# Few different ones for very many images.
@lru_cache(maxsize=256)
def _word(text: bytes) -> str:
    return text.decode()


def _text(found: Optional[bytes], decode: Callable[[bytes], str] = bytes.decode) -> Optional[str]:
    return None if found is None else decode(found)
