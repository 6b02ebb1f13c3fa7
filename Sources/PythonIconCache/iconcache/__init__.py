# SPDX-License-Identifier: Apache-2.0
"""Reads the cache of icons that syncagent keeps on disk, without a running agent, network or write permission.

    import iconcache

    path = iconcache.IconCache().path("https://example.com/mail.png", size=64)
    with iconcache.IconCache.open() as cache:
        for app in cache["apps.plist"]:
            print(app.name, app.path, app.image_for(64))
    for change in iconcache.IconCache().watch():
        print(change.kind, change.list or change.url)

In asyncio it is `async for change in iconcache.IconCache().changes()`. All reading is done by libiconcache, of Debian's
package libiconcache0, or by the library whose path is in ICONCACHE_LIBRARY.
"""

from ._cache import IconCache, Snapshot, Watch
from ._entries import App, AppList, Change, ChangeKind, Image, ListSummary, Renditions, Status
from ._errors import DamagedError, IconCacheError, NoCacheError, UnknownFormatError, UnreadableError

# That of syncagent, as in Packaging/debian/changelog.
__version__ = "1.0.0"
# The names in version 1.0.
Damaged, NoCache, UnknownFormat, Unreadable = DamagedError, NoCacheError, UnknownFormatError, UnreadableError

__all__ = [
    "App", "AppList", "Change", "ChangeKind", "Damaged", "DamagedError", "IconCache", "IconCacheError", "Image",
    "ListSummary", "NoCache", "NoCacheError", "Renditions", "Snapshot", "Status", "UnknownFormat",
    "UnknownFormatError", "Unreadable", "UnreadableError", "Watch", "__version__",
]  # fmt: skip
