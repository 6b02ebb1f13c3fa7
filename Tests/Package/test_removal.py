# SPDX-License-Identifier: Apache-2.0
"""What stays when the package is removed, and when it is purged."""
import icons
from case import CACHE, CONFIGURATION, LISTS, MachineTest
from commands import until

# What the system notes of any package or unit.
OF_THE_SYSTEM = (
    "/var/lib/dpkg/", "/var/lib/apt/", "/var/cache/apt/", "/var/log/", "/var/cache/debconf/", "/run/systemd/",
    "/run/log/", "/etc/passwd", "/etc/shadow", "/etc/group", "/etc/gshadow", "/etc/.pwd.lock", "/var/tmp/",
    "/var/lib/systemd/timers/")


class Removal(MachineTest):
    is_installed = False

    def files(self):
        out = self.machine.run("find", "/etc", "/var", "/usr", "/run", "/lib/", "/opt", "/home", "/root", "/tmp").out
        return {path for path in out.splitlines() if not path.startswith(OF_THE_SYSTEM)}

    def test_remove_purge_and_install_again(self):
        run, before = self.machine.run, self.files()
        self.install(self.deb)
        self.configure("# Mine.\n")
        self.drop("mine", range(5))
        self.sync("mine")
        self.syncagent("pin", icons.url(9), "--wait")

        with self.reading([0, 1, 2, 3, 4, 9]):
            run("apt-get", "-qq", "-y", "remove", "syncagent", limit=60)
        self.assertEqual(self.machine.show("ActiveState"), "inactive")
        self.assertEqual(run("pgrep", "-u", "syncagent", check=False).out, "")
        self.assertEqual(self.ready(), {0, 1, 2, 3, 4, 9})
        self.assertEqual(self.machine.path(CONFIGURATION).read_text(), "# Mine.\n")
        self.assertTrue(self.machine.path("/var/lib/syncagent/state.sqlite").exists())
        self.assertFalse(self.machine.path("/usr/bin/syncagent").exists())

        # Back from there, nothing was lost.
        counts = self.origin.counts()
        self.install(self.deb)
        until("the agent", lambda: self.status()["inSync"])
        self.assertEqual(self.ready(), {0, 1, 2, 3, 4, 9})
        self.assertEqual(self.origin.counts(), counts)

        run("apt-get", "-qq", "-y", "purge", "syncagent", limit=60)
        own = {"/etc/syncagent", LISTS, f"{LISTS}/mine.plist"}
        self.assertEqual(self.files() - before, own)
        self.assertEqual(before - self.files(), set())
        self.assertEqual(self.machine.path(f"{LISTS}/mine.plist").read_bytes(), icons.plist(range(5)))
        self.assertEqual(self.machine.show("LoadState"), "not-found")

        self.install(self.deb)
        until("the agent", lambda: self.status()["inSync"])
        self.assertEqual(self.ready(), set(range(5)))
        self.assertEqual(self.machine.show("ActiveState", "UnitFileState"),
                         {"ActiveState": "active", "UnitFileState": "enabled"})

        # Without a list of the administrator, nothing stays at all.
        self.machine.path(f"{LISTS}/mine.plist").unlink()
        run("apt-get", "-qq", "-y", "purge", "syncagent", limit=60)
        self.assertEqual(self.files() - before, set())
        self.assertFalse(self.machine.path(CACHE).exists())

    def test_purge_spares_what_is_not_ours(self):
        run = self.machine.run
        self.install(self.deb)
        run("systemctl", "stop", "syncagent")
        for options, kept in ((["lost+found"], False), (["photo.jpg"], True)):
            run("mount", "-t", "tmpfs", "none", CACHE)
            self.addCleanup(run, "umount", CACHE, check=False)
            if not kept:
                run("systemctl", "start", "syncagent")
                run("systemctl", "stop", "syncagent")
            for name in options:
                self.machine.write(f"{CACHE}/{name}", "x")
            # A mount point cannot be removed, which is no reason to fail.
            run("apt-get", "-qq", "-y", "purge", "syncagent", limit=60)
            self.assertEqual(run("ls", "-A", CACHE).out.split(), options if kept else [])
            run("umount", CACHE)
            self.install(self.deb)
            run("systemctl", "stop", "syncagent")
        run("apt-get", "-qq", "-y", "purge", "syncagent", limit=60)

    def test_purge_spares_what_is_mounted_in_the_cache(self):
        run = self.machine.run
        self.install(self.deb)
        run("systemctl", "stop", "syncagent")
        self.machine.write("/srv/precious/file", "x")
        run("mkdir", f"{CACHE}/mounted")
        run("mount", "--bind", "/srv/precious", f"{CACHE}/mounted")
        out = run("apt-get", "-qq", "-y", "purge", "syncagent", limit=60).out
        self.assertIn(f"{CACHE} stays: something is mounted in it.", out)
        run("umount", f"{CACHE}/mounted")
        self.assertTrue(self.machine.path("/srv/precious/file").exists())
        run("rm", "-r", "/srv/precious", CACHE)

    def test_purge_goes_on_where_the_cache_is_read_only(self):
        run = self.machine.run
        self.install(self.deb)
        run("systemctl", "stop", "syncagent")
        run("mount", "--bind", CACHE, CACHE)
        run("mount", "-o", "remount,bind,ro", CACHE)
        self.machine.write("/etc/syncagent/auth.toml", "", mode=0o600)
        out = run("apt-get", "-qq", "-y", "purge", "syncagent", limit=60).out
        self.assertIn(f"{CACHE} stays: it is a mount point", out)
        self.assertIn("/etc/syncagent stays: ", out)
        self.assertFalse(self.machine.path("/var/lib/syncagent").exists())
        self.assertTrue(self.machine.path(f"{CACHE}/manifest.json").exists())
        run("umount", CACHE)
        run("rm", "-r", CACHE, "/etc/syncagent")

    def test_exports_go_on_over_an_upgrade_and_end_with_the_package(self):
        run, units = self.machine.run, ("syncagent-export.path", "syncagent-export.timer")
        self.install(self.deb)
        self.machine.write("/etc/default/syncagent-export", "EXPORT=/var/lib/syncagent-export\n")
        run("systemctl", "enable", "--now", *units)
        self.install(self.later)
        self.assertEqual([self.machine.show("ActiveState", unit=unit) for unit in units], ["active"] * 2)
        run("apt-get", "-qq", "-y", "remove", "syncagent", limit=60)
        self.assertEqual([self.machine.show("ActiveState", unit=unit) for unit in units], ["inactive"] * 2)
        run("apt-get", "-qq", "-y", "purge", "syncagent", limit=60)
