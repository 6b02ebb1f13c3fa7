# SPDX-License-Identifier: Apache-2.0
"""The values that readers get."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Optional, Union, overload

# That of an entry with its own image.
BEST_RANK = 3

Status = Literal["ready", "pending", "failed"]
ChangeKind = Literal["list_added", "list_changed", "list_removed", "icon_ready", "icon_replaced", "icon_gone"]

# 8 to 1024, and a scale of 2 to 4.
_SIZE = re.compile(r"([89]|[1-9][0-9]{1,2}|10[01][0-9]|102[0-4])(?:@([2-4]))?")


def expect_text(what: str, value: object) -> None:
    """Checks an argument whose other types would not be noticed, or be found nowhere."""
    if not isinstance(value, str):
        raise TypeError(f"{what} must be str, not {type(value).__name__}")


def expect_size(value: object) -> None:
    """Checks a number of pixels."""
    if not isinstance(value, int):
        raise TypeError(f"size must be int, not {type(value).__name__}")
    if value < 1:
        raise ValueError("size must be at least 1")


# There are few different ones.
@lru_cache(maxsize=256)
def size_order(size: str) -> Optional[tuple[int, int]]:
    """The pixels and the scale of a size, by which sizes are ordered: 128 and 2 of 64@2. None for any other text."""
    found = _SIZE.fullmatch(size)
    if found is None:
        return None
    scale = int(found[2] or 1)
    return int(found[1]) * scale, scale


class _Value:
    """Makes copies and pickles of frozen classes with slots, which the standard library cannot before Python 3.11."""

    __slots__: tuple[str, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, name) for name in self.__slots__)


@dataclass(frozen=True, repr=False)
class Image(_Value):
    """An image on disk, which never changes.

    folder: the cache folder, as an absolute path
    sha256: the digest of its bytes, in hexadecimal
    suffix: that of the file's name, such as png
    bytes: the size of the file
    type: the media type, such as image/png
    width, height: in pixels
    path: the absolute path
    name: the path, relative to the cache folder
    """

    __slots__ = ("folder", "sha256", "suffix", "bytes", "type", "width", "height")

    folder: str
    sha256: str
    suffix: str
    bytes: int
    type: str
    width: int
    height: int

    @property
    def path(self) -> Path:
        """The absolute path."""
        return Path(self.folder, self.name)

    @property
    def name(self) -> str:
        """The path, relative to the cache folder."""
        return f"icons/{self.sha256[:2]}/{self.sha256}.{self.suffix}"

    def __repr__(self) -> str:
        return (
            f"Image(path={str(self.path)!r}, bytes={self.bytes}, type={self.type!r}, "
            f"width={self.width}, height={self.height})"
        )


class Renditions(_Value, Mapping[str, Image]):
    """The renditions of an image by their sizes, the smallest first.

    A size is such as "64", or "64@2" for 64 at a scale of 2: 128 pixels, the longer side that the image was made for.
    """

    __slots__ = ("_images",)

    def __init__(self, images: Mapping[str, Image] = MappingProxyType({})) -> None:
        self._images = tuple(sorted(images.items(), key=lambda item: _order(item[0])))

    def __getitem__(self, size: str) -> Image:
        for text, image in self._images:
            if text == size:
                return image
        raise KeyError(size)

    def __iter__(self) -> Iterator[str]:
        return (text for text, _ in self._images)

    def __len__(self) -> int:
        return len(self._images)

    def __hash__(self) -> int:
        return hash(self._images)

    def __reduce__(self) -> tuple[Any, ...]:
        return Renditions, (dict(self._images),)

    def __repr__(self) -> str:
        return f"Renditions({dict(self._images)!r})"


def _order(size: str) -> tuple[int, int]:
    order = size_order(size)
    if order is None:
        raise ValueError(f"{size!r} is not a size")
    return order


NO_RENDITIONS = Renditions()


@dataclass(frozen=True)
class App(_Value):
    """An entry of an app list. What the list or the document does not have is None.

    name, download: as in the list
    id: what tells the app from others of the list
    icon: the URL, spelled as in the list
    expected: the digest that the list gives for the image
    status: "ready", "pending" (not downloaded yet) or "failed"
    image: the Image; None unless the icon is ready
    previous: the URL that the image came from, if the icon itself has none yet
    previous_since: since when it has none, as in RFC 3339
    error: why there is no image of the icon's URL, such as http-404
    renditions: the image made for other sizes, by size: {"48": Image(…), "64@2": Image(…)}
    path: the absolute path of the image; None unless the icon is ready
    rank: the precedence among entries of one URL: 3 with its own image, 2 with a previous one, 1 with none
    """

    __slots__ = (
        "name", "id", "icon", "download", "expected", "status", "image", "previous", "previous_since", "error",
        "renditions",
    )  # fmt: skip

    name: Optional[str]
    id: Optional[str]
    icon: str
    download: Optional[str]
    expected: Optional[str]
    status: Status
    image: Optional[Image]
    previous: Optional[str]
    previous_since: Optional[str]
    error: Optional[str]
    renditions: Renditions

    @property
    def path(self) -> Optional[Path]:
        """The absolute path of the image; None unless the icon is ready."""
        return None if self.image is None else self.image.path

    def image_for(self, size: int) -> Optional[Image]:
        """The image to be shown in so many pixels, counted on its longer side; None unless the icon is ready.

        It is the smallest rendition that was made for at least as many, or if there is none, the image itself.
        """
        expect_size(size)
        enough = (image for text, image in self.renditions.items() if _order(text)[0] >= size)
        return next(enough, self.image)

    @property
    def rank(self) -> int:
        """The precedence among entries of one URL; the highest counts."""
        if self.image is None:
            return 1
        return BEST_RANK if self.previous is None else 2


class AppList(Sequence[App]):
    """The entries of an app list, in its order."""

    __slots__ = ("_apps", "name")

    def __init__(self, name: str, apps: list[App]) -> None:
        self.name = name
        self._apps = apps

    def find(self, name: str) -> Optional[App]:
        """The first entry with that name; None if there is none."""
        return next((app for app in self._apps if app.name == name), None)

    @overload
    def __getitem__(self, index: int) -> App: ...
    @overload
    def __getitem__(self, index: slice) -> list[App]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[App, list[App]]:
        return self._apps[index]

    def __len__(self) -> int:
        return len(self._apps)

    def __iter__(self) -> Iterator[App]:
        return iter(self._apps)

    def __repr__(self) -> str:
        return f"<AppList {self.name!r}: {len(self)} apps>"


@dataclass(frozen=True)
class ListSummary(_Value):
    """What a manifest says of an app list.

    name: its file name
    sha256: the digest of its document: another one if any entry differs
    apps: the number of its entries
    ready, pending, failed: how many of them are in each state
    """

    __slots__ = ("name", "sha256", "apps", "ready", "pending", "failed")

    name: str
    sha256: str
    apps: int
    ready: int
    pending: int
    failed: int


@dataclass(frozen=True)
class Change(_Value):
    """A difference between two states of a cache.

    kind: one of these, others may come with later versions
        "list_added"
        "list_changed": its entries, their order, or the state of one
        "list_removed"
        "icon_ready": it had no image, and has one now
        "icon_replaced": it has another image
        "icon_gone": it is in no list now, or lost its image
    list: the name of the list; None if an icon changed
    url: the URL of the icon; None if a list changed
    image: the new Image of the icon, if it has one
    """

    __slots__ = ("kind", "list", "url", "image")

    kind: ChangeKind
    list: Optional[str]
    url: Optional[str]
    image: Optional[Image]
