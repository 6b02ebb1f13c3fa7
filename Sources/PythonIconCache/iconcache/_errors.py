# SPDX-License-Identifier: Apache-2.0
"""Why a cache cannot be read."""

from __future__ import annotations

import errno as codes
import os

# The format version of manifests and list documents that this package reads.
FORMAT = 1

# Errors of files that another host may have replaced or removed, even while they are open.
MAY_MEAN_REPLACED = frozenset({codes.ESTALE, codes.ENOENT, codes.EIO})
# Errors that mean that there is nothing at a path.
ABSENCE = frozenset({codes.ENOENT, codes.ENOTDIR})


class IconCacheError(Exception):
    """A cache cannot be read. `path` is the file or folder, and the text is a sentence that says what to do."""

    path: str

    @property
    def may_mean_replaced(self) -> bool:
        """Whether a file may be gone because there is a newer generation."""
        return False


class NoCache(IconCacheError):
    """Nothing was ever published in the folder."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"There is no icon cache at {self.path}: start syncagent, or name the cache folder it uses."


class Unreadable(IconCacheError):
    """A file cannot be opened or read; `errno` says why."""

    def __init__(self, path: str, errno: int) -> None:
        super().__init__(path, errno)
        self.path = path
        self.errno = errno

    def __str__(self) -> str:
        return f"Cannot read {self.path}: {os.strerror(self.errno)}."

    @property
    def may_mean_replaced(self) -> bool:
        return self.errno in MAY_MEAN_REPLACED


class Damaged(IconCacheError):
    """A file is missing, or its contents are not what they should be; `reason` is a clause."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        reason = _printable(self.reason)
        return f"{self.path} is damaged: {reason}. Restart syncagent: it goes back to the newest good generation."


class UnknownFormat(IconCacheError):
    """A file has a later format than this package reads."""

    def __init__(self, path: str, format: int) -> None:
        super().__init__(path, format)
        self.path = path
        self.format = format

    def __str__(self) -> str:
        return (
            f"{self.path} has format {self.format}, and this program reads format {FORMAT}: "
            "install a newer version of it."
        )


def reading_error(path: str, error: OSError) -> IconCacheError:
    """The error for a file that cannot be opened or read."""
    if error.errno == codes.ESPIPE:
        return Damaged(path, "it is not a regular file")
    return Unreadable(path, error.errno or codes.EIO)


def _printable(text: str) -> str:
    """Escapes control and format characters, which can move a cursor or hide their neighbors."""
    if text.isascii() and text.isprintable():
        return text
    import unicodedata

    def shown(character: str) -> str:
        if unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            return character
        units = character.encode("utf-16-be", "surrogatepass").hex()
        return "".join("\\u" + units[start : start + 4] for start in range(0, len(units), 4))

    return "".join(map(shown, text))
