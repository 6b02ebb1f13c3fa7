# SPDX-License-Identifier: Apache-2.0
"""Who may ask the agent, and who may change something: root, a member of control.group, and a stranger."""
import icons
from case import MachineTest


class Access(MachineTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        run = cls.machine.run
        run("groupadd", "--system", "icon-admins")
        run("useradd", "--create-home", "--groups", "icon-admins", "member")
        run("useradd", "--create-home", "stranger")

    def setUp(self):
        super().setUp()
        self.configure('[control]\ngroup = "icon-admins"\n')
        self.machine.run("systemctl", "restart", "syncagent")
        self.drop("apps", range(5))
        self.sync("apps")

    def test_everybody_finds_the_service_and_reads(self):
        for user in (None, "member", "stranger"):
            with self.subTest(user or "root"):
                status = self.status(user=user)
                self.assertEqual((status["state"], status["pid"]), ("running", self.pid()))
                self.assertEqual(self.syncagent("status", user=user).code, 0)
                path = self.syncagent("path", icons.url(3), user=user).out.strip()
                self.assertEqual(self.machine.run("cat", path, user=user).code, 0)
                self.assertIn("apps.plist", self.syncagent("list", user=user).out)
                self.assertIn("apps.plist", self.syncagent("why", icons.url(3), user=user).out)

    def test_root_and_the_group_may_change_things(self):
        for user in (None, "member"):
            with self.subTest(user or "root"):
                self.syncagent("pause", user=user)
                self.assertEqual(self.status()["state"], "paused")
                self.syncagent("resume", user=user)
                self.syncagent("sync", "--wait", user=user)
                self.syncagent("pin", icons.url(50), "--wait", user=user)
                self.syncagent("unpin", icons.url(50), user=user)

    def test_a_stranger_may_not(self):
        for command in (["sync"], ["pause"], ["pin", icons.url(51)], ["evict"], ["purge", "--yes"]):
            with self.subTest(command[0]):
                result = self.syncagent(*command, user="stranger", check=False)
                self.assertNotEqual(result.code, 0)
                self.assertIn("icon-admins", result.err)
                self.assertEqual(len(result.err.strip().splitlines()), 1, result.err)
        self.assertEqual(self.status()["state"], "running")
        self.assertEqual(self.ready() & set(range(50)), set(range(5)))

    def test_a_stranger_reads_only_if_everyone_may(self):
        self.configure('[control]\ngroup = "icon-admins"\nreaders = "group"\n')
        self.machine.run("systemctl", "restart", "syncagent")
        self.assertEqual(self.status(user="member")["pid"], self.pid())
        self.assertFalse(self.status(user="stranger")["reachable"])
        self.assertNotEqual(self.syncagent("events", user="stranger", check=False).code, 0)

    def test_a_stranger_does_not_write_to_what_readers_trust(self):
        for path in ("/var/cache/syncagent/x", "/var/cache/syncagent/icons/x", "/etc/syncagent/lists.d/x.plist",
                     "/var/lib/syncagent/x", "/run/syncagent/x"):
            with self.subTest(path):
                result = self.machine.run("touch", path, user="stranger", check=False)
                self.assertIn("Permission denied", result.err)
        self.assertNotEqual(self.machine.run("ls", "/var/lib/syncagent", user="stranger", check=False).code, 0)
