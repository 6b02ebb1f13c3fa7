# SPDX-License-Identifier: Apache-2.0
"""What systemd does with the service: reload, watchdog, a death, a restart, a shutdown."""
import json
import re

import icons
from case import CACHE, LISTS, MachineTest
from commands import until
from machine import FOLDER
from reader import SteadyReader

FORMAT = FOLDER.parents[1] / "Sources/IconCache/IconCache.docc/Format.md"

DROP_IN = "/run/systemd/system/syncagent.service.d/test.conf"


class Service(MachineTest):
    def setUp(self):
        super().setUp()
        self.drop("apps", range(20))
        self.sync("apps")

    def setting(self, key):
        """The value in force, as text."""
        settings = json.loads(self.syncagent("config", "--json").out)["settings"]
        return next(str(entry["value"]) for entry in settings if entry["key"] == key)

    def reload(self):
        return self.machine.run("systemctl", "reload", "syncagent", check=False)

    def signal(self, name):
        self.machine.run("systemctl", "kill", "--kill-who=main", f"--signal={name}", "syncagent")

    def test_a_reload_with_a_good_file_changes_settings(self):
        before = self.pid()
        self.configure(f'[network]\ndenyHosts = ["{icons.HOST}"]\n')
        self.assertEqual(self.reload().code, 0)
        until("the setting", lambda: self.setting("network.denyHosts") == icons.HOST)
        self.expect_in_journal("host-refused")
        self.drop("denied", range(30, 33))
        until("the icons to be refused", lambda: "host-refused" in [p["code"] for p in self.status()["problems"]])
        self.configure("")
        self.assertEqual(self.reload().code, 0)
        self.sync("denied")
        self.assertLessEqual(set(range(30, 33)), self.ready())
        self.assertEqual(self.pid(), before)

    def test_a_program_is_started_after_a_publication(self):
        units = re.findall(r"(?s)# (/etc/systemd/system/icons-changed\.\w+)\n(.*?\n)(?=\n|```)", FORMAT.read_text())
        self.assertEqual(len(units), 2)
        for path, text in units:
            self.machine.write(path, text)
        self.machine.write("/usr/local/bin/icons-changed", "#!/bin/sh\necho started >>/run/icons-changed\n", 0o755)
        self.machine.run("systemctl", "daemon-reload")
        self.machine.run("systemctl", "enable", "--now", "icons-changed.path")
        self.drop("others", range(50, 53))
        self.sync("others")
        until("the program", lambda: self.machine.run("test", "-s", "/run/icons-changed", check=False).code == 0)
        self.machine.run("systemctl", "disable", "--now", "icons-changed.path")

    def test_a_reload_with_a_bad_file_fails_and_changes_nothing(self):
        before = self.pid()
        self.configure("[fetch]\nconcurrency = 7\n")
        self.assertEqual(self.reload().code, 0)
        until("the setting", lambda: self.setting("fetch.concurrency") == "7")
        self.expect_in_journal("concurency", "Control process exited", "Reload failed", "Not reloaded", "configuration")
        self.configure("[fetch]\nconcurency = 8\n")
        self.assertNotEqual(self.reload().code, 0)
        told = [str(entry["MESSAGE"]) for entry in self.logged()]
        self.assertTrue(any("concurency" in message for message in told), told)
        until("status to tell", lambda: "configuration-rejected" in [p["code"] for p in self.status()["problems"]])
        self.assertIn("concurency", self.status()["configuration"]["error"])
        self.assertEqual(self.setting("fetch.concurrency"), "7")
        self.drop("more", range(40, 43))
        until("the icons", lambda: set(range(40, 43)) <= self.ready())
        self.assertEqual((self.pid(), self.machine.show("ActiveState")), (before, "active"))
        self.configure("")
        self.assertEqual(self.reload().code, 0)
        until("no problem", lambda: not self.status()["problems"])

    def test_a_restart_with_a_bad_file_fails_once_and_says_why(self):
        self.expect_in_journal("nonsense", "Failed with result", "Main process exited", "Failed to start")
        self.configure("nonsense = 1\n")
        with self.reading(range(20)):
            result = self.machine.run("systemctl", "restart", "syncagent", check=False)
            self.assertNotEqual(result.code, 0)
            state = self.machine.show("ActiveState", "ExecMainStatus", "NRestarts")
            self.assertEqual(state, {"ActiveState": "failed", "ExecMainStatus": "78", "NRestarts": "0"})
            self.configure("")
            self.machine.run("systemctl", "reset-failed", "syncagent")
            self.machine.run("systemctl", "start", "syncagent")

    def test_the_watchdog_restarts_an_agent_that_stands_still(self):
        self.addCleanup(self.drop_in, None)
        self.drop_in("[Service]\nWatchdogSec=2s\nTimeoutAbortSec=2s\nRestartSec=100ms\nLimitCORE=0\n")
        self.expect_in_journal("Watchdog timeout", "Failed with result 'watchdog'", "Main process exited", "SIGABRT")
        before, counts = self.pid(), self.origin.counts()
        with self.reading(range(20)):
            self.signal("STOP")
            self.await_active(other_than=before)
            until("the agent", lambda: self.status()["inSync"])
        self.assertEqual(self.machine.show("NRestarts"), "1")
        self.assertEqual(self.origin.counts(), counts)
        self.assertTrue(any("Watchdog timeout" in str(e["MESSAGE"]) for e in self.logged()))

    def drop_in(self, text):
        if text:
            self.machine.write(DROP_IN, text)
        else:
            self.machine.path(DROP_IN).unlink()
        self.machine.run("systemctl", "daemon-reload")
        self.machine.run("systemctl", "restart", "syncagent")

    def test_after_kill_9_it_goes_on_where_it_was(self):
        self.expect_in_journal("Main process exited", "Failed with result 'signal'")
        before, counts = self.pid(), self.origin.counts()
        restarts = int(self.machine.show("NRestarts"))
        with self.reading(range(20)):
            self.signal("KILL")
            self.await_active(other_than=before)
            until("the agent", lambda: self.status()["inSync"])
        self.assertEqual(int(self.machine.show("NRestarts")), restarts + 1)
        self.assertEqual(self.origin.counts(), counts)
        # It could tell that from an end of the machine, after which numbers of events may be missing.
        self.assertIn('"agent-killed"', self.syncagent("events", "--json").out)

    def test_a_stop_ends_well_and_at_once(self):
        self.machine.run("systemctl", "stop", "syncagent", limit=5)
        state = self.machine.show("ActiveState", "Result", "ExecMainStatus")
        self.assertEqual(state, {"ActiveState": "inactive", "Result": "success", "ExecMainStatus": "0"})
        self.assertEqual(self.syncagent("status", check=False).code, 3)
        self.assertLessEqual(set(range(20)), self.ready())
        self.assertEqual(self.machine.run("cat", self.syncagent("path", icons.url(1)).out.strip()).code, 0)
        self.machine.run("systemctl", "start", "syncagent")

    def test_it_comes_up_with_the_machine(self):
        with SteadyReader(self.machine.root / CACHE.lstrip("/"), range(20)):
            self.machine.shut_down()
            self.machine.boot()
            type(self).origin = self.machine.serve_icons()
            self.await_active()
            until("the agent", lambda: self.status()["inSync"])
        self.assertEqual(self.origin.counts(), {})


class Sandbox(MachineTest):
    def test_only_what_the_agent_needs_is_open(self):
        """Operation.md says why each of these is."""
        out = self.machine.run("systemd-analyze", "security", "--json=short", "syncagent.service").out
        self.assertEqual(
            {entry["json_field"] for entry in json.loads(out) if entry["exposure"] and float(entry["exposure"])},
            {
                "RootDirectoryOrRootImage", "RestrictAddressFamilies_AF_UNIX", "RestrictAddressFamilies_AF_INET_INET6",
                "PrivateNetwork", "PrivateUsers", "DeviceAllow", "IPAddressDeny", "ProcSubset",
            })
        self.exposure_is_at_most(12)
        # For those who do not use control.group.
        self.machine.write("/etc/systemd/system/syncagent.service.d/users.conf", "[Service]\nPrivateUsers=yes\n")
        self.machine.run("systemctl", "daemon-reload")
        self.exposure_is_at_most(11)
        self.machine.run("systemctl", "restart", "syncagent")
        self.assertEqual(self.status()["state"], "running")

    def exposure_is_at_most(self, tenths):
        overall = self.machine.run(
            "systemd-analyze", "security", f"--threshold={tenths}", "syncagent.service", check=False)
        self.assertEqual(overall.code, 0, overall.out.splitlines()[-1])

    def test_the_units_are_without_faults(self):
        for options in ([], ["--user"]):
            where = "/usr/lib/systemd/user" if options else "/lib/systemd/system"
            result = self.machine.run(
                "systemd-analyze", "verify", "--man=no", *options, f"{where}/syncagent.service",
                environment=["XDG_RUNTIME_DIR=/tmp"])
            self.assertEqual(result.out + result.err, "")

    def test_the_agent_cannot_write_elsewhere(self):
        pid = self.pid()
        for path in ("/etc/syncagent/x", f"{LISTS}/x", "/usr/x", "/var/x", "/root/x"):
            with self.subTest(path):
                result = self.machine.run(
                    "nsenter", "--target", pid, "--mount", "setpriv", "--reuid=syncagent", "--regid=syncagent",
                    "--clear-groups", "touch", path, check=False)
                self.assertRegex(result.err, "Permission denied|Read-only file system|No such file")


class Exports(MachineTest):
    TARGET = "/var/lib/syncagent-export"

    def manifest(self, folder):
        path = self.machine.path(f"{folder}/manifest.json")
        return path.read_bytes() if path.exists() else None

    def test_the_cache_is_exported_when_it_changes(self):
        for unit in ("syncagent-export.path", "syncagent-export.timer"):
            enabled = self.machine.run("systemctl", "is-enabled", unit, check=False).out.strip()
            self.assertEqual(enabled, "disabled")
        self.machine.write("/etc/default/syncagent-export", f"EXPORT={self.TARGET}\n")
        self.machine.run("systemctl", "enable", "--now", "syncagent-export.path", "syncagent-export.timer")
        for numbers in (range(5), range(10)):
            self.drop("apps", numbers)
            self.sync("apps")
            until("the export", lambda: self.manifest(self.TARGET) == self.manifest(CACHE))
        icons_there = self.machine.run("find", f"{self.TARGET}/icons", "-name", "*.png", "-perm", "0444").out
        self.assertEqual(len(icons_there.splitlines()), 10)
        until("its end", lambda: self.machine.show("ActiveState", unit="syncagent-export.service") == "inactive")
        self.assertEqual(self.machine.show("Result", unit="syncagent-export.service"), "success")
