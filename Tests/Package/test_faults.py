# SPDX-License-Identifier: Apache-2.0
"""A full disk, a lists folder that goes away, and no network: what is on disk stays."""
import icons
from case import CACHE, LISTS, MachineTest
from commands import until


class FullDisk(MachineTest):
    def setUp(self):
        super().setUp()
        run = self.machine.run
        run("systemctl", "stop", "syncagent")
        run("mount", "-t", "tmpfs", "-o", "size=8m,mode=755", "cache", CACHE)
        run("systemctl", "start", "syncagent")
        self.drop("apps", range(20))
        self.sync("apps")

    def tearDown(self):
        self.machine.run("systemctl", "stop", "syncagent")
        self.machine.run("umount", "--lazy", CACHE)
        super().tearDown()

    def test_what_is_there_stays_and_the_rest_comes_once_there_is_room(self):
        self.expect_in_journal("disk", "space", "minFree")
        filler = self.cache / "filler"
        with self.reading(range(20)) as reading:
            with open(filler, "wb", buffering=0) as file:
                try:
                    while file.write(bytes(4096)):
                        pass
                except OSError:
                    pass
            self.drop("more", range(50, 60))
            until(lambda: f"disk-full: {self.status()['problems']}",
                  lambda: "disk-full" in [problem["code"] for problem in self.status()["problems"]])
            self.assertEqual(self.syncagent("status", check=False).code, 1)
            self.assertEqual(self.machine.show("ActiveState"), "active")
            reads = reading.reads
            until("more reads", lambda: reading.reads > reads + 20)
            filler.unlink()
            until("the other icons", lambda: set(range(50, 60)) <= self.ready(), 90)
            until("no problem", lambda: not self.status()["problems"])

    def test_a_start_without_room_succeeds_once_there_is_some(self):
        self.expect_in_journal("disk", "space", "minFree", "[Ff]ailed", "Cannot")
        run = self.machine.run
        run("systemctl", "stop", "syncagent")
        run("mount", "-o", "remount,ro", CACHE)
        run("systemctl", "start", "syncagent", check=False)
        until("a second try", lambda: int(self.machine.show("NRestarts")) >= 2, 60)
        run("mount", "-o", "remount,rw", CACHE)
        self.await_active()
        self.assertEqual(self.ready(), set(range(20)))


class MissingLists(MachineTest):
    """The lists folder is a file system of its own."""

    def setUp(self):
        super().setUp()
        self.expect_in_journal("lists folder", "eviction", "suspended")
        run = self.machine.run
        run("mkdir", "-p", "/srv/lists")
        run("systemctl", "stop", "syncagent")
        run("mount", "--bind", "/srv/lists", LISTS)
        self.drop("apps", range(20))
        run("systemctl", "start", "syncagent")
        self.sync("apps")
        self.counts = self.origin.counts()

    def eviction(self):
        return self.status()["eviction"]["state"]

    def expect_nothing_lost(self):
        until(lambda: f"suspension, not {self.status()['eviction']}", lambda: self.eviction() == "suspended", 60)
        self.assertIn("eviction-suspended", [problem["code"] for problem in self.status()["problems"]])
        self.syncagent("evict", check=False)
        self.assertEqual(self.ready(), set(range(20)))

    def expect_all_well(self):
        until(lambda: f"an end of it, not {self.status()['problems']}",
              lambda: self.eviction() == "active" and not self.status()["problems"], 60)
        self.assertEqual(self.ready(), set(range(20)))
        self.assertEqual(self.origin.counts(), self.counts)

    def test_unmounted_lists_evict_nothing(self):
        with self.reading(range(20)):
            self.machine.run("umount", "--lazy", LISTS)
            self.expect_nothing_lost()
            self.machine.run("mount", "--bind", "/srv/lists", LISTS)
            self.expect_all_well()
        self.machine.run("systemctl", "stop", "syncagent")
        self.machine.run("umount", "--lazy", LISTS)

    def test_unreadable_lists_evict_nothing(self):
        with self.reading(range(20)):
            self.machine.run("chmod", "0", LISTS)
            self.expect_nothing_lost()
            self.machine.run("chmod", "755", LISTS)
            self.expect_all_well()
        self.machine.run("systemctl", "stop", "syncagent")
        self.machine.run("umount", "--lazy", LISTS)


class Offline(MachineTest):
    def test_everything_but_new_icons_goes_on(self):
        self.drop("apps", range(20))
        self.sync("apps")
        counts = self.origin.counts()
        self.expect_in_journal("connect", "unreachable", "failed")
        self.machine.network("link", "set", "lo", "down")
        with self.reading(range(20)):
            self.assertEqual(self.machine.run("ls", "/sys/class/net").out.split(), ["lo"])
            self.assertEqual(self.syncagent("status").code, 0)
            path = self.syncagent("path", icons.url(3)).out.strip()
            self.assertEqual(self.machine.path(path).read_bytes(), icons.png(3))
            # Known icons in another list are there at once.
            self.drop("known", range(5, 15))
            self.assertEqual(self.sync("known").code, 0)
            self.machine.run("systemctl", "reload", "syncagent")
            before = self.pid()
            self.machine.run("systemctl", "restart", "syncagent")
            self.assertNotEqual(self.pid(), before)
            self.assertEqual(self.syncagent("status").code, 0)
            self.syncagent("pause")
            self.syncagent("resume")
            self.assertEqual(self.syncagent("verify").code, 0)
            # A new one waits.
            self.drop("new", [3, 99])
            self.syncagent("sync", "--wait", "new.plist", check=False)
            self.assertEqual(self.ready(), set(range(20)))
            self.assertEqual(self.syncagent("status", check=False).code, 1)
            self.machine.network("link", "set", "lo", "up")
            self.syncagent("retry", "--failed", check=False)
            until("the new icon", lambda: 99 in self.ready())
        until("no problem", lambda: not self.status()["problems"])
        self.assertEqual(self.origin.counts(), counts | {99: 1})
