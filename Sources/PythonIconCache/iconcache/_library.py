# SPDX-License-Identifier: Apache-2.0
"""libiconcache by ctypes, as in iconcache.h. Pointers to structures are addresses: reading them makes no objects."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, Structure, c_bool, c_char, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from operator import attrgetter
from typing import Any

OK, ABSENT, NO_CACHE, UNREADABLE, DAMAGED, UNKNOWN_FORMAT, NO_MEMORY, INVALID = range(0, -8, -1)


def _structure(**members: type[Any]) -> type[Structure]:
    """A structure, and `members` for all of its members at once, which is quicker than one by one."""
    return type("Structure", (Structure,), {"_fields_": [*members.items()], "members": property(attrgetter(*members))})


Error = _structure(code=c_int, system_error=c_int, message=c_char * 1016)
List = _structure(name=c_char_p, sha256=c_char_p, apps=c_uint64, ready=c_uint64, pending=c_uint64, failed=c_uint64)
Image = _structure(path=c_char_p, sha256=c_char_p, type=c_char_p, bytes=c_uint64, width=c_uint32, height=c_uint32)
Rendition = _structure(size=c_char_p, pixels=c_uint32, image=c_void_p)
App = _structure(
    name=c_char_p, id=c_char_p, download=c_char_p, icon=c_char_p, expected=c_char_p, status=c_int, image=c_void_p,
    previous=c_char_p, previous_since=c_char_p, error=c_char_p, renditions_count=c_size_t, renditions=c_void_p,
)  # fmt: skip
Change = _structure(kind=c_int, list=c_char_p, url=c_char_p, image=c_void_p)

_ERROR, _RESULT = POINTER(Error), POINTER(c_void_p)
# Functions of one prototype, without iconcache_: the type of the result, and those of the arguments.
_PROTOTYPES = (
    ("version", c_uint32),
    ("new", c_int, c_char_p, _RESULT, _ERROR),
    ("snapshot_new watch_new watch_next", c_int, c_void_p, _RESULT, _ERROR),
    ("apps_new apps_of_url apps_of_name", c_int, c_void_p, c_char_p, _RESULT, _ERROR),
    ("free snapshot_free apps_free watch_free", None, c_void_p),
    ("folder", c_char_p, c_void_p),
    ("path_size snapshot_lists", c_size_t, c_void_p),
    ("path_for_pixels", c_int, c_void_p, c_char_p, c_uint32, c_char_p, c_size_t, _ERROR),
    ("open_for_pixels", c_int, c_void_p, c_char_p, c_uint32, _ERROR),
    ("snapshot_open", c_int, c_void_p, POINTER(Image), _ERROR),
    ("snapshot_generation", c_int64, c_void_p),
    ("snapshot_is_leased", c_bool, c_void_p),
    ("snapshot_list", c_void_p, c_void_p, c_size_t),
    ("apps_next", c_void_p, c_void_p),
    ("watch_descriptor", c_int, c_void_p),
)
FUNCTIONS = {f"iconcache_{name}": tuple(types) for names, *types in _PROTOTYPES for name in names.split()}
_name = os.environ.get("ICONCACHE_LIBRARY") or "libiconcache.so.0"
try:
    # The first lets other threads run during a call, which may read files. The second does not: 100,000 calls for what
    # is in memory would take minutes if each let a busy thread run, for 5 ms.
    library, quick = ctypes.CDLL(_name), ctypes.PyDLL(_name)
    for _function, (_result, *_arguments) in FUNCTIONS.items():
        for _declared in getattr(library, _function), getattr(quick, _function):
            _declared.restype, _declared.argtypes = _result, _arguments
except (OSError, AttributeError) as error:
    raise ImportError(
        f"iconcache cannot load libiconcache: {error}. Install the package libiconcache0, or set "
        "ICONCACHE_LIBRARY to the path of libiconcache.so.0."
    ) from None
_number = quick.iconcache_version()
# That of the library, which need not be that of this module.
version = f"{_number // 10000}.{_number // 100 % 100}.{_number % 100}"
