# SPDX-License-Identifier: Apache-2.0
"""The archive for other distributions: what its scripts check, install and remove."""
import base64
import os
import pathlib
import re
import shutil
import tarfile
import tempfile

import icons
from case import CACHE, CONFIGURATION, LISTS, MachineTest, PackageTest
from commands import Later, execute, until
from machine import FOLDER, PATH

BUILD = FOLDER.parents[1] / "Packaging/build-tarball"
# What the system notes of any unit or user.
OF_THE_SYSTEM = (
    "/var/log/", "/run/systemd/", "/run/log/", "/etc/passwd", "/etc/shadow", "/etc/group", "/etc/gshadow",
    "/etc/.pwd.lock", "/var/lib/systemd/", "/root/")
built = None


def archive(test):
    """The archive. It is made once: compressing it takes most of the time."""
    global built
    built = built or Later(make, test.deb, test.scratch / "tarball")
    return built.get()


def make(deb, folder):
    renderers = [file for name in ("render", "render-heif") for file in deb.parent.glob(f"syncagent-{name}_*.deb")]
    execute(BUILD, folder, deb, *renderers, limit=300)
    return next(folder.glob("*.tar.xz"))


class TarballAsFile(PackageTest):
    @classmethod
    def setUpClass(cls):
        # Both at once: each keeps one processor busy.
        again = Later(make, cls.deb, cls.scratch / "again")
        cls.archive = archive(cls)
        cls.again = again.get()
        cls.addClassCleanup(shutil.rmtree, cls.again.parent)
        cls.folder = cls.scratch / "unpacked-tarball"
        execute("tar", "--extract", "--file", cls.archive, "--one-top-level=" + str(cls.folder))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.top = next(cls.folder.iterdir())

    def stand_in(self, **tools):
        """A folder with programs that answer instead of the system's, for the PATH."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(dir=self.scratch)))
        for name, script in tools.items():
            (folder / name).write_text(f"#!/bin/sh\n{script}\n")
            (folder / name).chmod(0o755)
        return folder

    def install(self, *arguments, **tools):
        path = f"{self.stand_in(**tools)}:{os.environ['PATH']}"
        return execute(self.top / "install", *arguments, env={**os.environ, "PATH": path}, check=False)

    def test_two_builds_give_the_same_bytes(self):
        self.assertEqual(self.archive.name, self.again.name)
        self.assertTrue(self.archive.read_bytes() == self.again.read_bytes(), "two builds differ")

    def test_it_has_one_folder_whose_files_belong_to_root(self):
        with tarfile.open(self.archive) as tar:
            members = tar.getmembers()
        names = [member.name for member in members]
        self.assertEqual(names, sorted(names, key=lambda name: name.split("/")))
        self.assertEqual({name.split("/")[0] for name in names}, {self.archive.name.removesuffix(".tar.xz")})
        self.assertEqual({(member.uid, member.gid, member.uname, member.gname) for member in members}, {(0, 0, "", "")})
        self.assertEqual(len({member.mtime for member in members}), 1)
        self.assertEqual([member.name for member in members if member.mode & 0o022], [])
        size = self.archive.stat().st_size
        print(f"  {self.archive.name}: {len(members)} files and folders, {size / 1e6:.1f} MB")
        for name in ("copyright", "syncagent.cdx.json", "notices/swift-nio.txt", "licenses/Apache-2.0.txt"):
            self.assertTrue((self.top / "files/usr/local/share/doc/syncagent" / name).exists(), name)

    def test_it_says_in_one_sentence_why_it_cannot_be_installed(self):
        musl = 'echo "musl libc (x86_64)" >&2; exit 1'
        for sentence, tools in (
                ("syncagent needs glibc 2.36 or later, and this system has glibc 2.31.",
                 {"getconf": "echo glibc 2.31"}),
                ("syncagent needs glibc 2.36 or later, and this system has glibc 2.35.",
                 {"getconf": "exit 1", "ldd": 'echo "ldd (Ubuntu GLIBC 2.35-0ubuntu3) 2.35"'}),
                ("syncagent needs glibc 2.36 or later, and this system has another C library.",
                 {"getconf": "exit 1", "ldd": musl}),
                (f"This archive is for {os.uname().machine}, and this machine is riscv64.", {"uname": "echo riscv64"}),
                ("syncagent needs libraries that this system does not have: "
                 "CURL_OPENSSL_4 of /lib/libcurl.so.4, libdeflate.so.0.",
                 {"ldd": "printf '\\tlibc.so.6 => /lib/libc.so.6 (0x1)\\n\\tlibdeflate.so.0 => not found\\n'\n"
                         "echo \"$1: /lib/libcurl.so.4: version \\`CURL_OPENSSL_4' not found (required by $1)\""}),
                ("The prefix is not an absolute path: opt", {"prefix": "opt"}),
                ("The prefix is not an absolute path of letters, digits and ._+-: /opt/my apps",
                 {"prefix": "/opt/my apps"}),
        ):
            with self.subTest(sentence):
                prefix = ["--prefix", tools.pop("prefix")] if "prefix" in tools else []
                result = self.install(*prefix, **tools)
                self.assertNotEqual(result.code, 0)
                self.assertEqual((result.out, result.err), ("", f"install: {sentence}\n"))

    def test_any_newer_c_library_will_do(self):
        # The next check after the libraries is for root.
        for version in ("2.36", "2.41", "3.0"):
            result = self.install(getconf=f"echo glibc {version}", id="echo 1000")
            self.assertEqual(result.err, "install: Run this script as root: it installs files in /usr/local and /etc.\n")


class Tarball(MachineTest):
    is_installed = False

    @classmethod
    def setUpClass(cls):
        archive(cls)
        super().setUpClass()

    def files(self):
        out = self.machine.run("find", "/etc", "/var", "/usr", "/run", "/lib/", "/opt", "/home", "/root", "/tmp").out
        return {path for path in out.splitlines() if not path.startswith(OF_THE_SYSTEM)}

    def unpack(self):
        # The machine has no xz.
        execute("tar", "--extract", "--file", archive(self), "--directory", self.machine.path("/root"), limit=120)
        return f"/root/{archive(self).name.removesuffix('.tar.xz')}"

    def test_install_use_upgrade_and_uninstall(self):
        run, before, top = self.machine.run, self.files(), self.unpack()
        installed = run(f"{top}/install", limit=60)
        self.assertEqual(installed.err, "")
        # It starts nothing, and says what does.
        self.assertEqual(
            self.machine.show("ActiveState", "UnitFileState"), {"ActiveState": "inactive", "UnitFileState": "disabled"})
        next_commands = re.findall(r"(?m)^    (system.*)$", installed.out)
        self.assertEqual(
            next_commands, ["systemd-sysusers", "systemctl daemon-reload", "systemctl enable --now syncagent"])
        listed = run("cat", "/usr/local/libexec/syncagent/installed").out.splitlines()
        self.assertEqual({line.partition(" ")[2] for line in listed}, self.files() - before)
        for command in next_commands:
            run("sh", "-c", command)

        self.drop("apps", range(10))
        self.sync("apps")
        self.assertEqual(self.ready(), set(range(10)))
        self.assertEqual(self.machine.show("FragmentPath"), "/usr/local/lib/systemd/system/syncagent.service")
        self.assertTrue(self.status()["inSync"])
        self.configure("# Mine.\n")

        # A file that only an older version had goes, and nothing else.
        self.machine.write("/usr/local/share/doc/syncagent/old.md", "x")
        self.machine.write("/usr/local/share/doc/syncagent/mine.md", "x")
        run("sh", "-c", "echo 'file /usr/local/share/doc/syncagent/old.md' >>/usr/local/libexec/syncagent/installed")
        process = self.pid()
        again = run(f"{top}/install", limit=60)
        self.assertIn("systemctl restart syncagent", again.out)
        self.assertEqual(run("cat", "/usr/local/libexec/syncagent/installed").out.splitlines(), listed)
        self.assertFalse(self.machine.path("/usr/local/share/doc/syncagent/old.md").exists())
        run("systemctl", "daemon-reload")
        run("systemctl", "restart", "syncagent")
        self.await_active(other_than=process)
        self.assertEqual(self.machine.path(CONFIGURATION).read_text(), "# Mine.\n")

        # Two installations would have the same folders.
        self.machine.write("/usr/bin/syncagent", "#!/bin/sh\n", mode=0o755)
        for command in (["install"], ["install", "--prefix", "/opt/other"], ["uninstall", "--purge"]):
            self.assertEqual(run(f"{top}/{command[0]}", *command[1:], check=False).code, 75)
        run("rm", "/usr/bin/syncagent")

        counts = self.origin.counts()
        run("/usr/local/libexec/syncagent/uninstall")
        self.assertEqual(
            self.machine.show("LoadState", "ActiveState"), {"LoadState": "not-found", "ActiveState": "inactive"})
        self.assertEqual(run("pgrep", "-u", "syncagent", check=False).out, "")
        left = {path for path in self.files() - before if not path.startswith((CACHE, "/var/lib/syncagent/"))}
        self.assertEqual(left, {
            "/etc/default/syncagent-export", "/etc/syncagent", CONFIGURATION, LISTS, f"{LISTS}/README",
            f"{LISTS}/apps.plist", "/var/lib/syncagent", "/usr/local/share/doc", "/usr/local/share/doc/syncagent",
            "/usr/local/share/doc/syncagent/mine.md"})
        self.assertEqual(self.ready(), set(range(10)))
        run("rm", "-r", "/usr/local/share/doc")

        # Back from there, nothing was lost.
        run(f"{top}/install", limit=60)
        run("systemctl", "daemon-reload")
        run("systemctl", "enable", "--now", "syncagent")
        until("the agent", lambda: self.status()["inSync"])
        self.assertEqual(self.ready(), set(range(10)))
        self.assertEqual(self.origin.counts(), counts)

        # Whoever is interrupted begins again, here after the units have gone.
        stand_in = "#!/bin/sh\ncase $* in */syncagent.8*) exit 1 ;; esac\nexec /usr/bin/rm \"$@\"\n"
        self.machine.write("/root/tools/rm", stand_in, mode=0o755)
        uninstall, tools = "/usr/local/libexec/syncagent/uninstall", [f"PATH=/root/tools:{PATH}"]
        self.assertEqual(run(uninstall, "--purge", environment=tools, check=False).code, 1)
        # Lists of others, on a file system of their own, stay; it may be the whole folder, too.
        for mounted, purge in ((LISTS, uninstall), ("/etc/syncagent", f"{top}/uninstall")):
            run("mount", "-t", "tmpfs", "lists", mounted)
            run("mkdir", "-p", LISTS)
            self.drop("theirs", range(1))
            self.assertIn("/etc/syncagent stays: something is mounted in it.\n", run(purge, "--purge").out)
            self.assertTrue(self.machine.path(f"{LISTS}/theirs.plist").exists())
            run("umount", mounted)
        run(f"{top}/uninstall", "--purge")
        self.assertEqual(self.files() - before, set())
        self.assertEqual(before - self.files(), set())

    def test_another_prefix_and_a_run_of_ones_own(self):
        run, before, top = self.machine.run, self.files(), self.unpack()
        renderer = self.machine.path(f"{top}/files/usr/local/libexec/syncagent/syncagent-render")
        with_libraries = self.machine.path("/opt/syncagent/libexec/syncagent/syncagent-render")
        if renderer.exists():
            # What it needs may be missing: the agent does without it.
            self.machine.write("/root/tools/ldd", "#!/bin/sh\ncase $1 in *render*) echo ' libgif.so.7 => not found' ;; "
                               "*) exec /usr/bin/ldd \"$@\" ;; esac\n", mode=0o755)
            out = run(
                f"{top}/install", "--prefix", "/opt/syncagent", environment=[f"PATH=/root/tools:{PATH}"], limit=60).out
            self.assertIn("syncagent-render is not installed: it needs libgif.so.7.", out)
            self.assertFalse(with_libraries.exists())
        run(f"{top}/install", "--prefix", "/opt/syncagent", limit=60)
        unit = self.machine.path("/etc/systemd/system/syncagent.service").read_text()
        self.assertIn("ExecStart=/opt/syncagent/bin/syncagent run\n", unit)
        self.assertNotIn("/usr/local", unit)
        # No network, and no service: an image within the list.
        image = base64.b64encode(icons.png(1)).decode()
        self.machine.write("/root/own/CONFIG_HOME/syncagent/lists.d/own.plist",
                           f"<plist><array><dict><key>name</key><string>A</string><key>icon</key>"
                           f"<string>data:image/png;base64,{image}</string></dict></array></plist>")
        kinds = ("CONFIG_HOME", "CACHE_HOME", "STATE_HOME", "RUNTIME_DIR")
        folders = [f"XDG_{kind}=/root/own/{kind}" for kind in kinds]
        run("mkdir", "--mode=700", "/root/own/RUNTIME_DIR")
        program = "/opt/syncagent/bin/syncagent"
        run(program, "run", "--once", "--allow-root", environment=folders)
        out = run(program, "status", environment=folders, check=False).out
        self.assertIn("The only icon is on disk.", out)
        run(f"{top}/uninstall", "--prefix", "/opt/syncagent", "--purge")
        self.assertEqual(self.files() - before, set())
        self.assertEqual(run(f"{top}/uninstall", check=False).code, 66)
