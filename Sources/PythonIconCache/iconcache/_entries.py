# SPDX-License-Identifier: Apache-2.0
"""The values that readers get."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import lru_cache
from pathlib import Path
from typing import Literal, Optional

Status = Literal["pending", "ready", "failed"]
ChangeKind = Literal["list_added", "list_changed", "list_removed", "icon_ready", "icon_replaced", "icon_gone"]


def checked(size: int) -> int:
    """A number of pixels; the largest one also stands for more."""
    if not isinstance(size, int):
        raise TypeError(f"size must be int, not {type(size).__name__}")
    if size < 1:
        raise ValueError("size must be at least 1")
    return min(size, (1 << 32) - 1)


# There are few different ones.
@lru_cache(maxsize=256)
def size_order(size: str) -> tuple[int, int]:
    """The pixels and the scale of a size, by which sizes are ordered: 128 and 2 of 64@2."""
    # 8 to 1024, and a scale of 2 to 4.
    found = re.fullmatch(r"([89]|[1-9][0-9]{1,2}|10[01][0-9]|102[0-4])(?:@([2-4]))?", size)
    if found is None:
        raise ValueError(f"{size!r} is not a size")
    scale = int(found[2] or 1)
    return int(found[1]) * scale, scale


@dataclass(frozen=True)
class Image:
    """An image on disk, which never changes.

    `folder` is the cache folder, `sha256` the digest in hexadecimal, `suffix` that of the file's name, `bytes` the size
    of the file, and `type` the media type, such as image/png. `width` and `height` are in pixels.
    """

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


class Renditions(Mapping[str, Image]):
    """The renditions of an image by their sizes, the smallest first.

    A size is such as "64", or "64@2" for 64 at a scale of 2: 128 pixels, the longer side that the image was made for.
    """

    __slots__ = ("_images",)

    def __init__(self, images: Mapping[str, Image] = {}) -> None:
        self._images = dict(sorted(images.items(), key=lambda item: size_order(item[0])))

    def __getitem__(self, size: str) -> Image:
        return self._images[size]

    def __iter__(self) -> Iterator[str]:
        return iter(self._images)

    def __len__(self) -> int:
        return len(self._images)

    def __hash__(self) -> int:
        return hash(tuple(self._images.items()))

    def __repr__(self) -> str:
        return f"Renditions({self._images!r})"


@dataclass(frozen=True)
class App:
    """An entry of an app list. What the list or the document does not have is None.

    `name`, `id`, `download`, `icon` (the URL) and `expected` (the digest of the image) are as in the list. The `status`
    is "ready", "pending" (not downloaded yet) or "failed". If it is ready there is an `image`, and `renditions` has
    those made for other sizes, such as "48" and "64@2". `error` is why there is no image of the icon's URL, such as
    http-404. If the image is of another URL, that is `previous`, since the time `previous_since` as in RFC 3339.
    """

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

    @property
    def previous_since_time(self) -> Optional[datetime]:
        """The same in UTC; None also for the year 0."""
        try:
            return datetime.strptime(self.previous_since or "", "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
        except ValueError:
            return None

    def image_for(self, size: int) -> Optional[Image]:
        """The image to be shown in so many pixels, as IconCache.path() chooses it; None unless the icon is ready."""
        pixels = checked(size)
        return next((image for text, image in self.renditions.items() if size_order(text)[0] >= pixels), self.image)

    @property
    def rank(self) -> int:
        """The precedence among entries of one URL: 3 with its own image, 2 with a previous one, 1 with none."""
        return 1 if self.image is None else 3 if self.previous is None else 2


class AppList(list[App]):
    """The entries of an app list, in its order; `name` is that of the list."""

    def __init__(self, name: str, apps: Iterable[App]) -> None:
        super().__init__(apps)
        self.name = name

    def find(self, name: str) -> Optional[App]:
        """The first entry with that name; None if there is none."""
        return next((app for app in self if app.name == name), None)

    def __repr__(self) -> str:
        return f"<AppList {self.name!r}: {len(self)} apps>"


@dataclass(frozen=True)
class ListSummary:
    """What a manifest says of an app list.

    `name` is its file name, and `sha256` the digest of its document: another one if any entry differs. It has so many
    `apps`, of which so many are `ready`, `pending` and `failed`.
    """

    name: str
    sha256: str
    apps: int
    ready: int
    pending: int
    failed: int


@dataclass(frozen=True)
class Change:
    """A difference between two states of a cache. Other kinds may come with later versions.

    A `list` was added, removed, or changed (its entries, their order, or the state of one): `kind` is "list_added",
    "list_removed" or "list_changed". Or the icon of a `url` has an `image`: "icon_ready" if it had none, otherwise
    "icon_replaced". Or it is in no list now, or lost its image: "icon_gone". What does not belong to the kind is None.
    """

    kind: ChangeKind
    list: Optional[str]
    url: Optional[str]
    image: Optional[Image]
