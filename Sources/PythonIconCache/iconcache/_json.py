# SPDX-License-Identifier: Apache-2.0
"""Parses JSON as strictly as other readers of the cache do.

The first of several members with one key counts. A string with half a surrogate pair, and a number that fits no type,
are replaced by a value of no JSON type: they do no harm where the reader does not know the key.
"""

from __future__ import annotations

import json
import re
from itertools import accumulate
from typing import Any, Callable, Optional

_MAX_DEPTH = 512
# More digits fit no 64-bit integer; int() takes long for very many.
_MAX_DIGITS = 19
LARGEST = (1 << 63) - 1
SMALLEST = -(1 << 63)
_HALF_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_HALF = re.compile("[\ud800-\udfff]")
_NOT_STRUCTURE = bytes(byte for byte in range(256) if byte not in b'"[]{}')


class NotJSON(Exception):
    """The text is not JSON, or is nested too deeply."""


class _Unusable:
    """Takes the place of a string or number that has no value."""


_UNUSABLE = _Unusable()


def parse(data: bytes, depth: int = 0) -> Any:
    """Parses a whole text in UTF-8; `depth` is that of the place from which it was taken."""
    _check_depth(data, _MAX_DEPTH - depth)
    try:
        text = data.decode("utf-8-sig")
        half = "\\u" in text and _HALF_ESCAPE.search(text)
        return (_CAREFUL if half else _QUICK).decode(text)
    except (ValueError, RecursionError):
        raise NotJSON from None


def quoted(text: str) -> bytes:
    """A string in the spelling in which the agent writes it."""
    return json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass")


def natural(value: object) -> Optional[int]:
    """A number of 64 bits that is not negative, also one that is written as 64.0; otherwise None."""
    number = integer(value)
    return None if number is None or number < 0 else number


def integer(value: object) -> Optional[int]:
    """A number of 64 bits, also one that is written as 64.0; otherwise None."""
    if type(value) is int:
        return value if SMALLEST <= value <= LARGEST else None
    if type(value) is float and -(1 << 53) < value < 1 << 53 and value.is_integer():
        return int(value)
    return None


def _check_depth(data: bytes, limit: int) -> None:
    """A parser that calls itself for each bracket could use up the stack."""
    if b"\\" in data:
        data = re.sub(rb"\\.", b"", data, flags=re.DOTALL)
    structure = data.translate(None, _NOT_STRUCTURE).replace(b'""', b"")
    if b'"' in structure:
        structure = re.sub(rb'"[^"]*"?', b"", structure)
    # Most brackets are those of the entries, which have no others inside.
    outer = structure.replace(b"{}", b"").replace(b"[]", b"")
    depth = max(accumulate(1 if byte in b"[{" else -1 for byte in outer), default=0)
    if depth + (len(outer) < len(structure)) > limit:
        raise NotJSON


def _integer(digits: str) -> Any:
    return int(digits) if len(digits) <= _MAX_DIGITS + digits.startswith("-") else _UNUSABLE


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    return members if len(members) == len(pairs) else dict(reversed(pairs))


def _members_without_halves(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if any(_HALF.search(key) for key, _ in pairs):
        raise ValueError("a key is not Unicode text")
    return _members(
        [(key, _UNUSABLE if isinstance(value, str) and _HALF.search(value) else value) for key, value in pairs]
    )


def _make_decoder(members: Callable[[list[tuple[str, Any]]], Any]) -> json.JSONDecoder:
    return json.JSONDecoder(object_pairs_hook=members, parse_int=_integer, parse_constant=_constant)


_QUICK = _make_decoder(_members)
_CAREFUL = _make_decoder(_members_without_halves)
