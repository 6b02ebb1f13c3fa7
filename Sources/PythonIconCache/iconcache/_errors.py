# SPDX-License-Identifier: Apache-2.0
"""Why a cache cannot be read."""

from __future__ import annotations

import errno as codes
import os
import re
from typing import Any, Callable

from . import _library


class IconCacheError(Exception):
    """A cache cannot be read. `path` is the file or folder, and the text is a sentence that says what to do."""

    path: str
    _sentence = "{0.path}"

    def __str__(self) -> str:
        return self._sentence.format(self, version=_library.version)

    @property
    def may_mean_replaced(self) -> bool:
        """Whether a file may be gone because there is a newer generation, perhaps of another host."""
        return isinstance(self, UnreadableError) and self.errno in (codes.ESTALE, codes.ENOENT, codes.EIO)


class NoCacheError(IconCacheError, FileNotFoundError):
    """Nothing was ever published in the folder."""

    _sentence = "There is no icon cache at {0.path}: start syncagent, or name the cache folder it uses."

    def __init__(self, path: str) -> None:
        super().__init__(codes.ENOENT, os.strerror(codes.ENOENT), path)
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return NoCacheError, (self.path,)


class UnreadableError(IconCacheError, OSError):
    """A file cannot be opened or read; `errno` says why."""

    errno: int
    _sentence = "Cannot read {0.path}: {0.strerror}."

    def __init__(self, path: str, errno: int) -> None:
        super().__init__(errno, os.strerror(errno), path)
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return UnreadableError, (self.path, self.errno)


class DamagedError(IconCacheError):
    """A file is missing, or its contents are not what they should be; `reason` is a clause."""

    _sentence = "{0.path} is damaged: {0.reason}. Restart syncagent: it goes back to the newest good generation."

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path, self.reason = path, reason


class UnknownFormatError(IconCacheError):
    """A file has a later format than the library reads."""

    _sentence = "{0.path} has format {0.format}, and libiconcache {version} reads format 1: install a newer one."

    def __init__(self, path: str, format: int) -> None:
        super().__init__(path, format)
        self.path, self.format = path, format


# The library's messages. A path can hold anything, but what follows it does not hold what is between the two.
_PATTERNS = {
    _library.UNREADABLE: r"Cannot read (.*): .*",
    _library.DAMAGED: r"(.*) is damaged: (.*?)(?:\. Restart syncagent.*)?",
    _library.UNKNOWN_FORMAT: r"(.*) has format (-?[0-9]+),.*",
}


def call(folder: str, function: Callable[..., int], *arguments: object) -> int:
    """The result of a function of the library: not below 0, or ABSENT. Any other is raised; `folder` is the cache's."""
    error = _library.Error()
    result = function(*arguments, error)
    if result >= _library.ABSENT:
        return result
    message, code = os.fsdecode(error.message), error.code
    if code == _library.NO_CACHE:
        raise NoCacheError(folder)
    if code not in _PATTERNS:
        raise (MemoryError if code == _library.NO_MEMORY else ValueError)(message)
    found = re.fullmatch(_PATTERNS[code], message, re.DOTALL)
    # Its path has “?” in place of control characters, and is below the folder, or no path at all.
    path = folder + found[1][len(folder) :] if found and found[1].startswith("/") else folder
    if code == _library.UNREADABLE:
        raise UnreadableError(path, error.system_error)
    if code == _library.DAMAGED:
        raise DamagedError(path, found[2] if found else message)
    raise UnknownFormatError(path, int(found[2]) if found else 0)
