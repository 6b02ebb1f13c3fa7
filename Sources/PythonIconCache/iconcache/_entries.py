# SPDX-License-Identifier: Apache-2.0
"""The values that readers get."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Optional, Union, overload

# That of an entry with its own image.
BEST_RANK = 3

Status = Literal["ready", "pending", "failed"]
ChangeKind = Literal["list_added", "list_changed", "list_removed", "icon_ready", "icon_replaced", "icon_gone"]


def expect_text(what: str, value: object) -> None:
    """Checks an argument whose other types would not be noticed, or be found nowhere."""
    if not isinstance(value, str):
        raise TypeError(f"{what} must be str, not {type(value).__name__}")


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
    path: the absolute path of the image; None unless the icon is ready
    rank: the precedence among entries of one URL: 3 with its own image, 2 with a previous one, 1 with none
    """

    __slots__ = (
        "name", "id", "icon", "download", "expected", "status", "image", "previous", "previous_since", "error",
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

    @property
    def path(self) -> Optional[Path]:
        """The absolute path of the image; None unless the icon is ready."""
        return None if self.image is None else self.image.path

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
