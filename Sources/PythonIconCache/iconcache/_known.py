# SPDX-License-Identifier: Apache-2.0
"""Compares a generation with what is known of the one before."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Optional

from ._entries import App, Change, Image

if TYPE_CHECKING:
    from ._cache import Snapshot


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
