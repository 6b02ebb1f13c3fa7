# SPDX-License-Identifier: Apache-2.0
"""What the tests of the package have in common."""
import json
import pathlib
import re
import unittest

import icons
from commands import Later, until
from machine import FOLDER, Machine
from reader import CacheReader, SteadyReader

CACHE = "/var/cache/syncagent"
LISTS = "/etc/syncagent/lists.d"
CONFIGURATION = "/etc/syncagent/syncagent.toml"
AUTOPKGTEST = FOLDER.parents[1] / "Packaging/autopkgtest"
WARNING = 4


class PackageTest(unittest.TestCase):
    """A test of the package. `run` says what is to be tested."""
    deb: pathlib.Path
    later: pathlib.Path | None = None
    scratch: pathlib.Path

    maxDiff = None

    def sentence(self):
        """What the test shows."""
        return f"{type(self).__name__}: {self._testMethodName.removeprefix('test_').replace('_', ' ')}"

    def traces(self):
        """What helps to understand why it failed."""
        return ""


class RootTest(PackageTest):
    """A test that needs root, and what makes Debian roots."""
    # Where they are kept, and which packages the package needs in them.
    roots: pathlib.Path
    needed: set[str]
    # A root of Debian 13 with them.
    newer: Later


class MachineTest(RootTest):
    """Tests on one machine that was booted for them, with the package installed.

    Whatever the journal has of ours with the priority of a warning fails the test, unless the test expects it.
    """
    # A Debian that boots, with what the package depends on.
    root: pathlib.Path
    is_installed = True

    @classmethod
    def setUpClass(cls):
        cls.machine = Machine(cls.root, cls.scratch)
        cls.addClassCleanup(cls.machine.stop)
        cls.machine.boot()
        # What was logged before it has been looked at.
        cls.cursor = cls.machine.cursor()
        cls.origin = cls.machine.serve_icons()
        if cls.is_installed:
            cls.install(cls.deb)

    @classmethod
    def install(cls, deb):
        """What `apt install ./deb` does; an older version too."""
        cls.machine.path(f"/var/tmp/{deb.name}").write_bytes(deb.read_bytes())
        return cls.machine.run(
            "apt-get", "-qq", "-y", "--no-install-recommends", "--allow-downgrades", "install", f"/var/tmp/{deb.name}",
            limit=120)

    def setUp(self):
        self.expected = []
        # Tests start it more often than its limit of starts allows.
        self.machine.run("systemctl", "reset-failed", "syncagent", check=False)

    def tearDown(self):
        lines = [
            f"<{entry.get('PRIORITY', '?')}> {entry.get('SYSLOG_IDENTIFIER')}: {entry.get('MESSAGE')}"
            for entry in self.logged() if self.is_ours_and_bad(entry)]
        type(self).cursor = self.machine.cursor()
        unexpected = [line for line in lines if not any(re.search(pattern, line) for pattern in self.expected)]
        self.assertEqual(unexpected, [], "the journal has lines that it should not have")

    def logged(self):
        """What was logged since the test before, or since the machine was booted."""
        return self.machine.journal(self.cursor)

    def traces(self):
        if not self.machine.leader:
            return ""
        return self.machine.run("journalctl", "--unit=syncagent", "--lines=20", check=False).out

    @staticmethod
    def is_ours_and_bad(entry):
        message = str(entry.get("MESSAGE"))
        if "thread priority" in message or "libdispatch" in message:
            return True
        units = {entry.get(field) for field in ("_SYSTEMD_UNIT", "UNIT", "USER_UNIT", "_SYSTEMD_USER_UNIT")}
        command = entry.get("_COMM", "")
        is_ours = "syncagent.service" in units or "syncagent" in message or command.startswith("syncagent")
        return is_ours and int(entry.get("PRIORITY", 6)) <= WARNING

    def expect_in_journal(self, *patterns):
        """Lines that the test provokes."""
        self.expected += patterns

    # What an administrator does.

    def syncagent(self, *arguments, **options):
        return self.machine.run("syncagent", *arguments, **options)

    def status(self, **options):
        return json.loads(self.syncagent("status", "--json", check=False, **options).out)

    def drop(self, name, numbers):
        self.machine.write(f"{LISTS}/{name}.plist", icons.plist(numbers))

    def sync(self, *lists, limit=60):
        return self.syncagent("sync", "--wait", *(f"{name}.plist" for name in lists), limit=limit)

    def configure(self, text):
        self.machine.write(CONFIGURATION, text)

    # What programs see.

    @property
    def cache(self):
        return self.machine.path(CACHE)

    def ready(self):
        """The numbers of the icons that are on disk, each of them read and compared."""
        return CacheReader(self.cache).check_all()

    def reading(self, at_least=()):
        return SteadyReader(self.cache, at_least)

    # What systemd says.

    def pid(self):
        return int(self.machine.show("MainPID"))

    def await_active(self, other_than=0, limit=40):
        """The process of the service, once it is ready."""
        def started():
            state = self.machine.show("ActiveState", "MainPID")
            return state["ActiveState"] == "active" and int(state["MainPID"]) not in (0, other_than)

        until("the service to be active in a new process", started, limit)
        return self.pid()
