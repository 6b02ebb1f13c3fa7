# SPDX-License-Identifier: Apache-2.0
"""Reads the cache of icons that syncagent keeps on disk.

Reading needs no running agent, no network and no write permission.

    import iconcache

    path = iconcache.IconCache().path("https://example.com/mail.png", size=64)

    with iconcache.IconCache.open() as cache:
        for app in cache["apps.plist"]:
            print(app.name, app.path, app.image_for(64))

    async for change in iconcache.IconCache().changes():
        print(change.kind, change.list or change.url)
"""

from ._cache import IconCache, Snapshot
from ._entries import App, AppList, Change, ChangeKind, Image, ListSummary, Renditions, Status
from ._errors import Damaged, IconCacheError, NoCache, UnknownFormat, Unreadable
from ._version import __version__

__all__ = [
    "App",
    "AppList",
    "Change",
    "ChangeKind",
    "Damaged",
    "IconCache",
    "IconCacheError",
    "Image",
    "ListSummary",
    "NoCache",
    "Renditions",
    "Snapshot",
    "Status",
    "UnknownFormat",
    "Unreadable",
    "__version__",
]
