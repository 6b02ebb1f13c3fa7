# SPDX-License-Identifier: Apache-2.0
"""Reads manifests and list documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn, Optional

from . import _json
from ._entries import BEST_RANK, NO_RENDITIONS, App, Image, ListSummary, Renditions, Status, size_order
from ._errors import FORMAT, Damaged, UnknownFormat
from ._json import LARGEST, SMALLEST, integer, natural

_MAX_GENERATION = 1 << 53
_DIGEST = re.compile(r"[0-9a-f]{64}")
_SUFFIX = re.compile(r"[0-9a-z]{1,16}")
_TIME = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z")
_KINDS: dict[str, type] = {
    **dict.fromkeys(("name", "id", "icon", "download", "expected", "status", "error"), str),
    **dict.fromkeys(("previous", "previousSince", "path", "sha256", "type"), str),
    **dict.fromkeys(("bytes", "width", "height"), int),
}
# Renditions are always made in this format.
_RENDITION_TYPE = "image/png"
_COUNTS = ("apps", "ready", "pending", "failed")
_OTHER = "it is not JSON of this format"

# The layout that the agent writes: one app on each line, after two spaces.
_HEAD = b'{ "format": 1, "list": '
_HEAD_END = b'"apps": [\n'
_SEPARATOR = b",\n  {"
_TAIL = b"\n] }\n"
# How much to parse at once, in bytes.
_PART = 1 << 16
# Escapes that the agent writes for control characters only, or never.
_RARE_ESCAPE = re.compile(rb'\\[^"\\nrt]')


def read_manifest(json: bytes, path: str) -> tuple[int, dict[str, ListSummary]]:
    """The generation and the app lists, sorted by the bytes of their names."""
    root = _root(json, path)
    generation = natural(root.get("generation"))
    if generation is None or generation > _MAX_GENERATION:
        raise Damaged(path, "“generation” is out of range")
    if not _is_time(root.get("published")):
        raise Damaged(path, "“published” is not an RFC 3339 time in UTC")
    lists = root.get("lists")
    if type(lists) is not dict:
        raise Damaged(path, _OTHER)
    return generation, {name: _summary(name, lists[name], path) for name in sorted(lists)}


def read_document(json: bytes, path: str, name: str, folder: str) -> list[App]:
    """The entries of the document of a list, in its order; `folder` is that of the cache."""
    parser = _AppParser(path, folder)
    apps = _written_apps(json, path, name, parser)
    if apps is not None:
        return apps
    root = _root(json, path)
    _check_head(root, path, name)
    return [parser.app(members, index) for index, members in enumerate(root["apps"])]


def find_entry(json: bytes, path: str, name: str, folder: str, url: str) -> Optional[App]:
    """The entry of a URL with the highest rank, the first one among equals; None if there is none."""
    entries: Iterable[App]
    if _is_searchable(json):
        entries = _entries_on_lines(json, path, folder, url)
    else:
        entries = read_document(json, path, name, folder)
    best = None
    for app in entries:
        if app.icon == url and (best is None or app.rank > best.rank):
            best = app
            if best.rank == BEST_RANK:
                break
    return best


def _root(json: bytes, path: str) -> dict[str, Any]:
    """The members of a document of the known format."""
    try:
        root = _json.parse(json)
    except _json.NotJSON:
        raise Damaged(path, _OTHER) from None
    version = integer(root.get("format")) if type(root) is dict else None
    if version is None:
        raise Damaged(path, _OTHER)
    if version != FORMAT:
        raise UnknownFormat(path, version)
    members: dict[str, Any] = root
    return members


def _summary(name: str, entry: object, path: str) -> ListSummary:
    if type(entry) is not dict:
        raise Damaged(path, _OTHER)
    sha256 = _digest(entry.get("sha256"))
    if sha256 is None:
        raise Damaged(path, f"“sha256” of {name} is not a SHA-256 digest")
    # Rule 8 of the format: no path has another form.
    if entry.get("document", f"lists/{sha256}.json") != f"lists/{sha256}.json":
        raise Damaged(path, f"“document” of {name} is not the path of a document with its digest")
    counts = [natural(entry.get(key)) for key in _COUNTS]
    apps, ready, pending, failed = counts
    if apps is None or ready is None or pending is None or failed is None:
        raise Damaged(path, _OTHER)
    if type(entry.get("private", False)) not in (bool, type(None)):
        raise Damaged(path, _OTHER)
    return ListSummary(name, sha256, apps, ready, pending, failed)


def _check_head(root: dict[str, Any], path: str, name: str) -> None:
    """Checks everything but the entries."""
    source = root.get("source")
    if type(root.get("list")) is not str or type(source) is not dict or type(root.get("apps")) is not list:
        raise Damaged(path, _OTHER)
    if type(source.get("sha256")) is not str or type(source.get("modified")) is not str:
        raise Damaged(path, _OTHER)
    if natural(source.get("bytes")) is None:
        raise Damaged(path, _OTHER)
    if _digest(source["sha256"]) is None or not _is_time(source["modified"]):
        raise Damaged(path, "its “source” has no valid “sha256” and “modified”")
    if root["list"] != name:
        raise Damaged(path, f"it belongs to another list than {name}")


def _written_apps(json: bytes, path: str, name: str, parser: _AppParser) -> Optional[list[App]]:
    """The entries of a document with one app on each line; None if it has another layout.

    So there are never all entries as dictionaries in memory.
    """
    start = json.find(b"\n") + 1
    stop = len(json) - len(_TAIL)
    if not json.startswith(_HEAD) or not json.endswith(_TAIL) or not json.endswith(_HEAD_END, 0, start) or start > stop:
        return None
    apps: list[App] = []
    try:
        # The parts together are a JSON text: the first one is only cut off in its last array, and the others are
        # elements of that.
        root = _json.parse(json[:start] + b"] }")
        if root.get("format") != FORMAT or root.get("apps") != []:
            return None
        while start < stop:
            end = json.find(_SEPARATOR, min(start + _PART, stop), stop)
            end = stop if end < 0 else end
            for members in _json.parse(b"[" + json[start:end] + b"]", 1):
                apps.append(parser.app(members, len(apps)))
            start = end + len(_SEPARATOR) - 1
    except _json.NotJSON:
        return None
    _check_head(root, path, name)
    return apps


def _is_searchable(json: bytes) -> bool:
    """Whether each app is on a line of its own, with its icon spelled as the agent does it."""
    return (
        json.startswith(_HEAD)
        and json.count(b"\n  { ") == json.count(b'"icon": "') == json.count(b"\n") - (1 if b"[] }\n" in json else 2)
        and not _RARE_ESCAPE.search(json)
    )


def _entries_on_lines(json: bytes, path: str, folder: str, url: str) -> Iterator[App]:
    # Quotes inside strings are escaped, so wherever these bytes are, they are a key and its value.
    member = b'"icon": ' + _json.quoted(url)
    parser = _AppParser(path, folder)
    position = json.find(member)
    is_first = True
    while position >= 0:
        start = json.rfind(b"\n", 0, position) + 1
        end = json.find(b"\n", position) + 1
        line = json[start:end]
        # Thousands of apps may share the URL of a missing icon.
        if is_first or b'"status": "ready"' in line:
            try:
                members = _json.parse(line.rstrip(b",\n"), 2)
            except _json.NotJSON:
                raise Damaged(path, _OTHER) from None
            yield parser.app(members, json.count(b"\n", 0, start) - 1)
        is_first = False
        position = json.find(member, end)


class _AppParser:
    """Makes the entries of a document from JSON objects."""

    def __init__(self, path: str, folder: str) -> None:
        self._path = path
        self._folder = folder
        # Few different ones for very many images.
        self._words: dict[str, str] = {}

    def app(self, members: object, index: int) -> App:
        if type(members) is not dict:
            self._fail(_OTHER)
        for key, value in members.items():
            kind = _KINDS.get(key)
            if kind is str:
                if type(value) is not str and value is not None:
                    self._fail(_OTHER)
            elif kind is int and (type(value) is not int or not SMALLEST <= value <= LARGEST) and value is not None:
                members[key] = integer(value)
                if members[key] is None:
                    self._fail(_OTHER)
        get = members.get
        icon, word = get("icon"), get("status")
        if icon is None or word is None:
            self._fail(_OTHER)
        status: Status
        image = previous = previous_since = error = None
        renditions = NO_RENDITIONS
        if word == "ready":
            status = "ready"
            image = self._image(members, index)
            if get("renditions") is not None:
                renditions = self._renditions(get("renditions"), index)
            previous = get("previous")
            if previous is not None:
                error = get("error")
                previous_since = get("previousSince")
                if not _is_time(previous_since):
                    previous_since = None
        elif word == "pending":
            status = "pending"
        elif word == "failed":
            status = "failed"
            error = get("error")
            if error is None:
                self._lacks_key(index)
            error = self._word(error)
        else:
            self._lacks_key(index)
        expected = get("expected")
        if expected is not None:
            expected = _digest(expected)
        return App(
            get("name"), get("id"), icon, get("download"), expected, status, image, previous, previous_since, error,
            renditions,
        )  # fmt: skip

    def _image(self, members: dict[str, Any], index: int) -> Image:
        get = members.get
        path, sha256, kind = get("path"), _digest(get("sha256")), get("type")
        size, width, height = get("bytes"), get("width"), get("height")
        if path is None or sha256 is None or kind is None or size is None or width is None or height is None:
            self._lacks_key(index)
        if size < 0 or width < 0 or height < 0:
            self._fail(f"a number of “apps[{index}]” is negative")
        suffix = self._suffix(path, sha256, index)
        return Image(self._folder, sha256, suffix, size, self._word(kind), width, height)

    def _suffix(self, path: str, sha256: str, index: int) -> str:
        start = f"icons/{sha256[:2]}/{sha256}."
        suffix = path[len(start) :]
        if not path.startswith(start) or not _SUFFIX.fullmatch(suffix):
            self._fail(f"a “path” of “apps[{index}]” is not one of an image with its digest")
        return self._word(suffix)

    def _renditions(self, members: object, index: int) -> Renditions:
        if type(members) is not dict:
            self._fail(_OTHER)
        images = {}
        for size, rendition in members.items():
            if size_order(size) is None:
                self._fail(f"a key of “renditions” of “apps[{index}]” is not a size")
            images[self._word(size)] = self._rendition(rendition, index)
        return Renditions(images)

    def _rendition(self, members: object, index: int) -> Image:
        if type(members) is not dict:
            self._fail(_OTHER)
        get = members.get
        path, sha256 = get("path"), _digest(get("sha256"))
        size, width, height = natural(get("bytes")), natural(get("width")), natural(get("height"))
        if type(path) is not str or sha256 is None or size is None or width is None or height is None:
            self._fail(f"a rendition of “apps[{index}]” lacks a key, or one has another form")
        return Image(self._folder, sha256, self._suffix(path, sha256, index), size, _RENDITION_TYPE, width, height)

    def _word(self, text: str) -> str:
        return self._words.setdefault(text, text)

    def _lacks_key(self, index: int) -> NoReturn:
        self._fail(f"“apps[{index}]” lacks a key that its status requires")

    def _fail(self, reason: str) -> NoReturn:
        raise Damaged(self._path, reason)


def _digest(value: object) -> Optional[str]:
    """The value if it is 64 hexadecimal digits."""
    return value if type(value) is str and _DIGEST.fullmatch(value) else None


def _is_time(value: object) -> bool:
    """Whether it is like 2026-11-21T02:44:52Z, and there is such a date."""
    found = _TIME.fullmatch(value) if type(value) is str else None
    if found is None:
        return False
    year, month, day = map(int, found.groups()[:3])
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = (31, 29 if is_leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return 1 <= month <= 12 and 1 <= day <= days[month - 1]
