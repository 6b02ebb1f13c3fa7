# SPDX-License-Identifier: Apache-2.0
"""The lists of a cache, which are read whenever they change."""
import os
import threading
from dataclasses import dataclass

from .names import Entry, natural
from .states import Absence
from .toolkit import Gio, GLib


@dataclass(frozen=True)
class News:
    """What was read last.

    folder: the cache folder
    entries: the apps of the lists, of which some may be from an earlier time
    absence: why there are none; None if there are
    problem: what could not be read, if anything
    """

    folder: os.PathLike
    entries: list
    absence: Absence
    problem: str


class Follower(threading.Thread):
    """Reads the lists on a thread of its own whenever they change, and passes their apps to the main one."""

    def __init__(self, folder, wanted, take):
        super().__init__(daemon=True)
        self.folder, self.wanted, self.take = folder, wanted, take
        # The digest and the entries of each list. The newest snapshot stays open until the next one, since its lease keeps
        # the images on disk.
        self.lists, self.snapshot = {}, None
        self.hint, self.anew = threading.Event(), threading.Event()

    def read_again(self):
        """Reads everything again, though nothing may have changed, and tells of it."""
        self.anew.set()
        self.hint.set()

    def run(self):
        # The window is there before this is loaded.
        try:
            from iconcache import IconCache
        except ImportError as error:
            # The C library is missing; the error names its package.
            GLib.idle_add(self.take, News(self.folder or "", [], Absence.UNREADABLE, str(error)))
            return
        last = told = None
        while True:
            self.hint.clear()
            if self.anew.is_set():
                self.anew.clear()
                last = told = None
            if not last:
                # Another folder may be the default by now.
                cache = IconCache(self.folder)
            newest = self.manifest(cache)
            if not newest or newest != last:
                # The folder may be another one at the same path: its old monitor ends first.
                monitor = None
                try:
                    monitor = Gio.File.new_for_path(str(cache.folder)).monitor_directory(Gio.FileMonitorFlags.NONE)
                    # Called on the main thread.
                    monitor.connect("changed", lambda *_: self.hint.set())
                except GLib.Error:
                    pass
                absence, problem = self.read(cache)
                if problem and newest and self.manifest(cache) != newest:
                    # Files of a superseded generation may be gone.
                    continue
                last = newest if not problem else None
                state = self.snapshot and self.snapshot.generation, self.lists, absence, problem, cache.folder
                if state != told:
                    told = state
                    GLib.idle_add(self.take, News(cache.folder, self.entries(), absence, problem))
            # There may be no hints, as on NFS.
            self.hint.wait(2)

    def manifest(self, cache):
        try:
            status = os.stat(cache.folder / "manifest.json")
        except OSError:
            return None
        return status.st_dev, status.st_ino, status.st_size, status.st_ctime_ns

    def read(self, cache):
        """Reads the lists that changed. A list that cannot be read stays as it was.

        Returns why there are no apps, if there are none, and what could not be read.
        """
        from iconcache import IconCacheError, NoCache

        wanted, problem, lists = self.wanted, "", {}
        try:
            self.snapshot = snapshot = cache.snapshot()
        except NoCache as failure:
            return Absence.NO_CACHE, str(failure)
        except IconCacheError as failure:
            return Absence.UNREADABLE, str(failure)
        for summary in snapshot.lists:
            name = summary.name
            if wanted in (None, name):
                lists[name] = known = self.lists.get(name, (None, []))
                try:
                    if known[0] != summary.sha256:
                        lists[name] = summary.sha256, [Entry(app) for app in snapshot[name]]
                except IconCacheError as failure:
                    problem = str(failure)
        self.lists = lists
        if wanted and wanted not in lists:
            return Absence.NO_LIST, problem
        return Absence.UNREADABLE if problem else Absence.NO_APPS, problem

    def entries(self):
        entries = [entry for name in sorted(self.lists) for entry in self.lists[name][1]]
        if len(self.lists) > 1:
            entries.sort(key=lambda entry: natural(entry.label))
        return entries
