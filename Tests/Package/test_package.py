# SPDX-License-Identifier: Apache-2.0
"""The package as a file: what it needs, what it has, and what Debian's checker says."""
import io
import os
import pathlib
import re
import shutil
import stat
import subprocess
import tarfile
import tempfile
import unittest

from case import AUTOPKGTEST, CONFIGURATION, PackageTest, RootTest
from commands import CommandFailed, execute
from machine import PATH
from roots import debian_root

DEPENDENCIES = {
    "ca-certificates", "init-system-helpers", "libc6", "libcurl4", "libdeflate0", "libgcc-s1",
    "libinotifytools0", "libsqlite3-0", "libssl3", "libstdc++6", "systemd | systemd-standalone-sysusers | systemd-sysusers"}
PROGRAMS = (
    "/usr/bin/syncagent", "/usr/libexec/syncagent/syncagent-parse", "/usr/libexec/syncagent/syncagent-watch")
FOLDERS = (
    "/etc/default/syncagent-export", "/etc/syncagent/", "/lib/systemd/system/", "/usr/bin/", "/usr/lib/systemd/user/",
    "/usr/lib/sysusers.d/", "/usr/libexec/syncagent/", "/usr/share/bash-completion/", "/usr/share/doc/syncagent/",
    "/usr/share/fish/", "/usr/share/lintian/overrides/", "/usr/share/man/", "/usr/share/zsh/")


class Package(PackageTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = cls.scratch / "unpacked"
        execute("dpkg-deb", "--raw-extract", cls.deb, cls.folder)
        cls.addClassCleanup(shutil.rmtree, cls.folder)

    def field(self, name):
        return execute("dpkg-deb", "--field", self.deb, name).out.strip()

    def test_it_needs_no_more_than_it_must(self):
        needed = [part.strip() for part in self.field("Depends").split(",")]
        print(f"  depends on {', '.join(needed)}")
        self.assertEqual({re.sub(r" *\([^)]*\)", "", part) for part in needed}, DEPENDENCIES)
        self.assertEqual(self.field("Pre-Depends"), "")
        self.assertEqual(self.field("Recommends"), "")

    def test_it_is_small(self):
        sizes = {program: (self.folder / program.lstrip("/")).stat().st_size for program in PROGRAMS}
        sizes["package"] = self.deb.stat().st_size
        print("  " + ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in sizes.items()))
        self.assertLessEqual(sizes["/usr/bin/syncagent"], 33_000_000)
        self.assertLessEqual(sizes["package"], 10_800_000)

    def test_articles_name_articles_that_are_there(self):
        folder = self.folder / "usr/share/doc/syncagent"
        text = "".join(article.read_text() for article in folder.glob("*.md"))
        self.assertNotRegex(text, r"[<(]doc:|!\[")
        # README.md is that of the examples.
        named = {*re.findall(r"(?<![\w/])[A-Z][A-Za-z]+\.md\b", text)} - {"README.md"}
        self.assertIn("Codes.md", named)
        self.assertEqual([name for name in sorted(named) if not (folder / name).exists()], [])

    def test_web_pages_are_complete(self):
        [pages] = self.deb.parent.glob("syncagent-doc_*.deb")
        files = subprocess.run(["dpkg-deb", "--fsys-tarfile", pages], capture_output=True, check=True, timeout=60)
        with io.BytesIO(files.stdout) as file, tarfile.open(fileobj=file) as archive:
            entries = {entry.name.removeprefix("."): entry for entry in archive}
        html = "/usr/share/doc/syncagent-doc/html"
        for name in ("index.html", "searchindex.js", "_static/searchtools.js", "man/syncagent.1.html", "Codes.html"):
            self.assertIn(f"{html}/{name}", entries)
        self.assertEqual([name for name in entries if name.startswith(html) and name.endswith(".gz")], [])
        # Debian has its own copies of scripts, in a package that this one needs.
        for name, entry in entries.items():
            if entry.issym():
                self.assertIn("javascript/sphinxdoc/", entry.linkname, name)
        self.assertIn("/usr/share/doc-base/syncagent-doc.syncagent", entries)

    def test_the_checker_of_debian_finds_nothing(self):
        if not shutil.which("lintian"):
            self.skipTest("lintian is not installed")
        others = [
            file for name in ("libiconcache0", "libiconcache-dev", "python3-iconcache", "syncagent-launcher",
                         "syncagent-render", "syncagent-render-heif", "syncagent-doc")
            for file in sorted(self.deb.parent.glob(f"{name}_*.deb"))]
        result = execute(
            "lintian", "--allow-root", "--fail-on=error,warning", self.deb, *others, check=False, limit=180)
        self.assertEqual((result.code, result.out + result.err), (0, ""))

    def test_the_python_module_finds_its_library_and_has_metadata(self):
        folder = self.scratch / "python"
        for name in ("libiconcache0", "python3-iconcache"):
            [file] = self.deb.parent.glob(f"{name}_*.deb")
            execute("dpkg-deb", "--extract", file, folder)
        self.addCleanup(shutil.rmtree, folder)
        needed = execute("dpkg-deb", "--field", file, "Depends").out
        self.assertRegex(needed, r"(^|, )libiconcache0 \(>= ")
        [library] = folder.glob("usr/lib/*/libiconcache.so.0")
        code = "import importlib.metadata, iconcache; print(importlib.metadata.version('iconcache') == iconcache.__version__)"
        found = execute(
            "env", f"LD_LIBRARY_PATH={library.parent}", f"PYTHONPATH={folder}/usr/lib/python3/dist-packages", "python3",
            "-B", "-c", code)
        self.assertEqual(found.out, "True\n")

    def test_its_files_are_where_they_belong(self):
        files = subprocess.run(["dpkg-deb", "--fsys-tarfile", self.deb], capture_output=True, check=True, timeout=60)
        with io.BytesIO(files.stdout) as file, tarfile.open(fileobj=file) as archive:
            for entry in archive:
                path = entry.name.removeprefix(".")
                with self.subTest(path):
                    self.assertEqual((entry.uid, entry.gid), (0, 0))
                    self.assertFalse(entry.mode & (stat.S_ISUID | stat.S_ISGID | stat.S_IWGRP | stat.S_IWOTH))
                    self.assertTrue(entry.isdir() or path.startswith(FOLDERS), "not a place of ours")
        conffiles = (self.folder / "DEBIAN/conffiles").read_text().split()
        self.assertEqual(set(conffiles), {CONFIGURATION, "/etc/default/syncagent-export"})

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "only root mounts file systems")
    def test_it_leaves_the_lists_folder_alone(self):
        # A read-only mount, and a link to another folder; each new and once more, as an upgrade.
        script = """
            mkdir -p "$0"/var/lib/dpkg/info "$0"/var/lib/dpkg/updates "$0"/etc/syncagent/lists.d
            touch "$0"/var/lib/dpkg/status
            mount -t tmpfs none "$0"/etc/syncagent/lists.d
            mount -o remount,ro "$0"/etc/syncagent/lists.d
            unpack() { dpkg --root="$0" --force-depends --force-script-chrootless --unpack "$1"; }
            unpack "$1"; unpack "$1"
            umount "$0"/etc/syncagent/lists.d
            rm -rf "$0"/etc/syncagent/lists.d
            mkdir "$0"/lists
            ln -s ../../lists "$0"/etc/syncagent/lists.d
            unpack "$1"; unpack "$1"
            [ "$(readlink "$0"/etc/syncagent/lists.d)" = ../../lists ]
        """
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run(
                ["unshare", "-m", "sh", "-ec", script, folder, self.deb], capture_output=True, timeout=120, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_its_programs_are_hardened_and_stripped(self):
        if not shutil.which("readelf"):
            self.skipTest("readelf is not installed")
        for program in PROGRAMS:
            with self.subTest(program):
                file = self.folder / program.lstrip("/")
                dynamic = execute("readelf", "--wide", "--dynamic", file).out
                self.assertRegex(dynamic, r"FLAGS_1.* NOW.* PIE")
                self.assertNotIn("RPATH", dynamic)
                for path in re.findall(r"RUNPATH.*\[(.*)\]", dynamic):
                    self.assertEqual(path, "$ORIGIN")
                sections = execute("readelf", "--wide", "--sections", file).out
                self.assertNotIn(".debug_info", sections)
                self.assertNotIn(".symtab", sections)
                # Any x86-64 processor will do.
                notes = execute("readelf", "--wide", "--notes", file).out
                self.assertNotRegex(notes, r"x86 ISA needed:.*x86-64-v[234]")


class OtherSystems(RootTest):
    """Whether it installs and starts on other systems. Nothing is booted: they may want a newer kernel interface."""

    def expect_to_start(self, root):
        machine = self.scratch / root.name
        self.addCleanup(shutil.rmtree, machine, ignore_errors=True)
        execute("cp", "-a", root, machine, limit=120)
        shutil.copy(self.deb, machine / "root/package.deb")
        shutil.copy(AUTOPKGTEST / "cli", machine / "root/cli")
        inside = (
            "unshare", "--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--kill-child", f"--root={machine}",
            "--mount-proc", "env", "-i", f"PATH={PATH}", "LANG=C.UTF-8", "DEBIAN_FRONTEND=noninteractive")
        execute(*inside, "dpkg", "--install", "/root/package.deb", limit=120)
        execute(*inside, "/root/cli", limit=60)

    def test_it_starts_on_debian_13(self):
        try:
            root = self.newer.get()
        except CommandFailed as error:
            self.skipTest(f"the mirror has no Debian 13: {error}")
        self.expect_to_start(root)

    def test_it_starts_on_ubuntu_24_04(self):
        if not pathlib.Path("/usr/share/keyrings/ubuntu-archive-keyring.gpg").exists():
            self.skipTest("ubuntu-archive-keyring is not installed; Debian 12 does not have it")
        mirrors = ["deb http://archive.ubuntu.com/ubuntu noble main universe"]
        self.expect_to_start(debian_root("noble", self.needed, self.roots, mirrors))
