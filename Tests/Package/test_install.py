# SPDX-License-Identifier: Apache-2.0
"""From a root with nothing but Debian's base to an icon on disk."""
import stat

import icons
from case import CACHE, CONFIGURATION, LISTS, MachineTest


class FirstSteps(MachineTest):
    is_installed = False

    def test_icons_are_on_disk_after_four_commands(self):
        machine, transcript = self.machine, []
        machine.path("/root/apps.plist").write_bytes(icons.plist(range(10)))
        machine.path(f"/root/{self.deb.name}").write_bytes(self.deb.read_bytes())

        def type_in(command):
            result = machine.run("sh", "-c", f"cd; {command}", limit=120)
            transcript.append(f"# {command}\n{result.out}".rstrip())
            return result.out

        type_in(f"apt-get -qq install ./{self.deb.name}")
        type_in(f"cp apps.plist {LISTS}")
        type_in("syncagent sync --wait apps.plist")
        path = type_in(f"syncagent path {icons.url(7)}").strip()
        type_in("syncagent status")
        # dpkg shows how far it is.
        lines = [line for line in "\n".join(transcript).splitlines() if "Reading database" not in line]
        print("  " + "\n  ".join(lines))
        self.assertEqual(machine.path(path).read_bytes(), icons.png(7))
        self.assertEqual(self.ready(), set(range(10)))


class Installation(MachineTest):
    def test_the_service_is_enabled_and_ready(self):
        state = self.machine.show(
            "ActiveState", "SubState", "UnitFileState", "Type", "NotifyAccess", "StatusText", "NRestarts", "Result",
            "User", "FragmentPath", "NeedDaemonReload")
        self.assertEqual(
            {key: value for key, value in state.items() if key != "StatusText"},
            {"ActiveState": "active", "SubState": "running", "UnitFileState": "enabled", "Type": "notify",
             "NotifyAccess": "main", "NRestarts": "0", "Result": "success", "User": "syncagent",
             "FragmentPath": "/lib/systemd/system/syncagent.service", "NeedDaemonReload": "no"})
        self.assertNotEqual(state["StatusText"], "")

    def test_it_runs_as_a_user_who_can_do_nothing_else(self):
        machine = self.machine
        name, _, _, _, _, home, shell = machine.run("getent", "passwd", "syncagent").out.strip().split(":")
        self.assertEqual((name, home, shell), ("syncagent", "/nonexistent", "/usr/sbin/nologin"))
        self.assertEqual(machine.run("id", "-Gn", "syncagent").out.split(), ["syncagent"])
        self.assertIn("syncagent", machine.run("getent", "group", "syncagent").out)
        owner = machine.run("stat", "--format=%U", f"/proc/{self.pid()}").out.strip()
        self.assertEqual(owner, "syncagent")

    def test_its_folders_belong_to_who_writes_to_them(self):
        for path, owner, mode in (
                ("/etc/syncagent", "root", "drwxr-xr-x"), (LISTS, "root", "drwxr-xr-x"),
                (CONFIGURATION, "root", "-rw-r--r--"),
                (CACHE, "syncagent", "drwxr-xr-x"), (f"{CACHE}/manifest.json", "syncagent", "-r--r--r--"),
                ("/var/lib/syncagent", "syncagent", "drwx------"), ("/run/syncagent", "syncagent", "drwxr-xr-x"),
                ("/run/syncagent/control.sock", "syncagent", "srw-rw-rw-"),
                ("/usr/bin/syncagent", "root", "-rwxr-xr-x"),
                ("/usr/libexec/syncagent/syncagent-watch", "root", "-rwxr-xr-x"),
                ("/usr/libexec/syncagent/syncagent-parse", "root", "-rwxr-xr-x")):
            with self.subTest(path):
                found = self.machine.run("stat", "--format=%U:%G %A", path).out.strip()
                self.assertEqual(found, f"{owner}:{owner} {mode}")

    def test_a_list_becomes_icons_without_being_asked(self):
        self.drop("dropped", range(100, 120))
        self.sync("dropped")
        self.assertLessEqual(set(range(100, 120)), self.ready())
        image = next((self.machine.path(f"{CACHE}/icons")).glob("*/*"))
        self.assertEqual(stat.S_IMODE(image.stat().st_mode), 0o444)
        status = self.status()
        self.assertEqual((status["state"], status["inSync"], status["pid"]), ("running", True, self.pid()))
        self.assertEqual(status["watch"]["mode"], "inotify")
