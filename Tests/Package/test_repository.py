# SPDX-License-Identifier: Apache-2.0
"""The apt repository of Packaging/build-repository: what clients do with it, and what it has after each run."""
import fcntl
import os
import re
import shutil
import subprocess
import sys
import threading
import time

import commands
import icons
from case import CONFIGURATION, LISTS, MachineTest, PackageTest
from commands import CommandFailed, die_with_parent, execute, until
from machine import FOLDER

BUILD = FOLDER.parents[1] / "Packaging/build-repository"
INSTALLATION = FOLDER.parents[1] / "Sources/SyncAgent/SyncAgent.docc/Installation.md"
KEYRING = "syncagent-archive-keyring.gpg"
TOOLS = ("apt-ftparchive", "dpkg-deb", "gpg", "gpg-agent", "gpgv", "xz")
WEEK = 7 * 86_400


def build(repository, *arguments, at=None, check=True):
    environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    if at is not None:
        environment["SOURCE_DATE_EPOCH"] = str(int(at))
    return execute(BUILD, repository, *arguments, env=environment, check=check)


def make_key(folder, name, *, made=None, expires="0"):
    """A file with a secret key, of a time in the past."""
    home = folder / f"{name}.gnupg"
    home.mkdir(mode=0o700)
    gpg = ("gpg", "--homedir", home, "--batch", "--quiet", "--passphrase", "", "--pinentry-mode", "loopback")
    made = made or time.time() - 30 * 86_400
    execute(*gpg, "--faked-system-time", f"{int(made)}!", "--quick-generate-key", name, "ed25519", "sign", expires)
    key = folder / f"{name}.key"
    execute(*gpg, "--export-secret-keys", "--output", key)
    execute("gpgconf", "--homedir", home, "--kill", "gpg-agent", check=False)
    return key


def package(folder, name="syncagent-dummy", version="1.0", architecture="amd64", content="x", source="syncagent"):
    """A package with nothing but one file."""
    root = folder / "package"
    (root / "DEBIAN").mkdir(parents=True)
    (root / "DEBIAN/control").write_text(
        f"Package: {name}\nVersion: {version}\nArchitecture: {architecture}\nSource: {source}\n"
        "Maintainer: nobody <nobody@example.com>\nDescription: a package without a use\n")
    (root / name).write_text(content)
    deb = folder / f"{name}_{version}_{architecture}_{content}.deb"
    execute("dpkg-deb", "-Znone", "--root-owner-group", "--build", root, deb)
    shutil.rmtree(root)
    return deb


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def named(repository):
    """The indexes that InRelease names: digests by path."""
    text = (repository / "dists/stable/InRelease").read_text()
    return {path: digest for digest, path in re.findall(r"(?m)^ ([0-9a-f]{64}) +\d+ (\S+)$", text)}


def flip(path):
    """Changes one bit in the middle of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


class RepositoryAsFiles(PackageTest):
    @classmethod
    def setUpClass(cls):
        for tool in TOOLS:
            if not shutil.which(tool):
                cls.skipTest(cls, f"{tool} is not installed")
        cls.folder = cls.scratch / "repository-as-files"
        cls.folder.mkdir()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.key = make_key(cls.folder, "first")
        cls.first = package(cls.folder)
        cls.now = int(time.time())

    def setUp(self):
        self.repository = self.folder / "r"
        self.addCleanup(shutil.rmtree, self.repository, ignore_errors=True)

    def build(self, *arguments, key=None, **options):
        return build(self.repository, *arguments, "--key", key or self.key, **options)

    def refuses(self, pattern, *arguments, **options):
        """The script fails, says why in its first line, and leaves the repository as it was."""
        before = contents(self.repository)
        result = build(self.repository, *arguments, check=False, **options)
        self.assertNotEqual(result.code, 0)
        self.assertRegex(result.err.splitlines()[0], f"^build-repository: .*{pattern}")
        self.assertEqual(contents(self.repository), before)

    def test_it_has_what_clients_ask_for(self):
        result = self.build(self.first)
        self.assertEqual(result.err, "")
        indexes = named(self.repository)
        self.assertEqual(set(indexes), {f"main/binary-amd64/Packages{end}" for end in ("", ".xz")})
        suite = self.repository / "dists/stable"
        for path, digest in indexes.items():
            by_hash = suite / os.path.dirname(path) / "by-hash/SHA256" / digest
            self.assertEqual(by_hash.read_bytes(), (suite / path).read_bytes())
        for name in ("InRelease", "Release.gpg"):
            signed = [suite / name] + ([suite / "Release"] if name == "Release.gpg" else [])
            execute("gpgv", "--keyring", self.repository / KEYRING, *signed)
        release = (suite / "Release").read_text()
        self.assertIn("Acquire-By-Hash: yes\n", release)
        self.assertNotIn("Valid-Until", release)
        # A web server reads all of it.
        for path in self.repository.rglob("*"):
            self.assertEqual(oct(path.stat().st_mode & 0o777), "0o755" if path.is_dir() else "0o644", path)

    def test_two_runs_give_the_same_bytes(self):
        self.build(self.first, at=self.now)
        once = contents(self.repository)
        self.build(self.first, at=self.now)
        self.assertEqual(contents(self.repository), once)
        shutil.rmtree(self.repository)
        self.build(self.first, at=self.now)
        self.assertEqual(contents(self.repository), once)

    def test_a_new_version_leaves_the_old_one_and_its_index(self):
        self.build(self.first)
        before, old = contents(self.repository), named(self.repository)
        self.build(package(self.folder, version="2.0"), package(self.folder, architecture="arm64"),
                   package(self.folder, name="syncagent-any", architecture="all"))
        after = contents(self.repository)
        kept = {path for path in before if path.startswith("pool/") or "/by-hash/" in path}
        self.assertEqual({path: after[path] for path in kept}, {path: before[path] for path in kept})
        suite = self.repository / "dists/stable"
        for architecture, expected in (
                ("amd64", {"syncagent-dummy 1.0", "syncagent-dummy 2.0", "syncagent-any 1.0"}),
                ("arm64", {"syncagent-dummy 1.0", "syncagent-any 1.0"})):
            text = (suite / f"main/binary-{architecture}/Packages").read_text()
            found = {" ".join(pair) for pair in re.findall(r"(?s)Package: (\S+)\n.*?Version: (\S+)\n", text)}
            self.assertEqual(found, expected)
        self.assertIn("Architectures: amd64 arm64\n", (suite / "Release").read_text())

        # Clients with an older InRelease have a week.
        replaced = [suite / "main/binary-amd64/by-hash/SHA256" / digest for digest in old.values()]
        for age, remains in ((WEEK - 3600, True), (WEEK + 3600, False)):
            for path in replaced:
                os.utime(path, (time.time() - age,) * 2)
            self.build()
            self.assertEqual([path.exists() for path in replaced], [remains] * 2)
        for path, digest in named(self.repository).items():
            self.assertTrue((suite / os.path.dirname(path) / "by-hash/SHA256" / digest).exists())

    def test_a_version_never_changes(self):
        self.build(self.first)
        other = package(self.folder, content="y")
        self.refuses("another syncagent-dummy_1.0_amd64.deb. A version never changes", other, "--key", self.key)
        self.build(self.first)
        third = package(self.folder, version="3.0"), package(self.folder, version="3.0", content="y")
        self.refuses("different packages of the same version", *third, "--key", self.key)

    def test_it_says_what_is_wrong_with_a_key(self):
        self.build(self.first)
        month = 30 * 86_400
        public = self.folder / "public.key"
        public.write_bytes((self.repository / KEYRING).read_bytes())
        expired = make_key(self.folder, "expired", made=self.now - 3 * month, expires="30d")
        short = make_key(self.folder, "short", expires="40d")
        young = make_key(self.folder, "young", made=self.now - 10)
        for pattern, arguments in (
                ("A repository is signed", []), ("Cannot read the key", ["--key", "/nowhere"]),
                ("has no secret key", ["--key", public]), ("has no secret key", ["--key", self.first]),
                ("gpg has no secret key", ["--sign-with", "nobody"]), ("has expired", ["--key", expired]),
                ("would be valid for longer", ["--key", short, "--valid-for", "20"]),
                ("Clients of .* do not have the key", ["--key", young])):
            with self.subTest(pattern):
                self.refuses(pattern, self.first, *arguments)
        shutil.rmtree(self.repository)
        self.repository.mkdir()
        self.refuses("made after SOURCE_DATE_EPOCH", self.first, "--key", young, at=self.now - 3600)

    def test_a_key_of_ones_own_gpg_signs(self):
        own = make_key(self.folder, "own", expires="60d").with_suffix(".gnupg")
        environment = os.environ | {"GNUPGHOME": str(own)}
        self.addCleanup(execute, "gpgconf", "--homedir", own, "--kill", "gpg-agent")
        for _ in range(2):
            result = execute(BUILD, self.repository, self.first, "--sign-with", "own", env=environment)
            execute("gpgv", "--keyring", self.repository / KEYRING, self.repository / "dists/stable/InRelease")
        # The key was made 30 days ago.
        day = time.strftime("%Y-%m-%d", time.gmtime(self.now + 30 * 86_400))
        self.assertRegex(result.err, f"^build-repository: The key [0-9A-F]+ expires on {day}: clients refuse")
        self.assertTrue(result.out.endswith(f", which expires on {day}\n"), result.out)

    def test_what_cannot_be_signed_is_not_kept(self):
        self.build(self.first)
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "gpg").write_text('#!/bin/sh\ncase "$*" in *--clear-sign*) exit 2 ;; esac\nexec /usr/bin/gpg "$@"\n')
        (tools / "gpg").chmod(0o755)
        before = contents(self.repository)
        second = package(self.folder, version="9.0")
        environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}"}
        result = execute(BUILD, self.repository, second, "--key", self.key, env=environment, check=False)
        self.assertRegex(result.err, "build-repository: gpg cannot sign")
        self.assertEqual(contents(self.repository), before)

    def test_one_writes_at_a_time(self):
        self.build(self.first)
        held = os.open(self.repository, os.O_RDONLY)
        self.addCleanup(os.close, held)
        fcntl.flock(held, fcntl.LOCK_EX)
        self.refuses("Another build-repository is writing", self.first, "--key", self.key)

    def test_keys_that_clients_have_are_not_forgotten(self):
        self.build(self.first)
        (self.repository / KEYRING).unlink()
        self.refuses("is missing: it has the keys that clients trust", "--key", self.key)

    def test_a_key_changes_once_clients_have_the_new_one(self):
        self.build(self.first)
        second = make_key(self.folder, "second")
        home = ("gpg", "--homedir", self.folder / "second.gnupg", "--batch", "--export")
        keyring = self.repository / KEYRING
        keyring.write_bytes(keyring.read_bytes() + subprocess.run(home, check=True, capture_output=True).stdout)
        clients = self.folder / "clients.gpg"
        shutil.copy(keyring, clients)
        for key in (self.key, second):
            self.build(key=key)
            execute("gpgv", "--keyring", clients, self.repository / "dists/stable/InRelease")

    def test_clients_never_go_back(self):
        self.build(self.first, at=self.now - 60)
        self.refuses("clients ignore an older one", "--key", self.key, at=self.now - 120)
        self.refuses("is in the future", "--key", self.key, at=self.now + 86_400)

    def test_a_repository_may_expire(self):
        self.build(self.first, "--valid-for", "10", at=self.now)
        until_then = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(self.now + 10 * 86_400))
        self.assertIn(f"Valid-Until: {until_then}\n", (self.repository / "dists/stable/InRelease").read_text())

    def test_a_file_that_is_no_package_changes_nothing(self):
        self.build(self.first)
        self.refuses("is not a Debian package", self.first, self.key, "--key", self.key)
        self.refuses("Cannot read the package", "/nowhere.deb", "--key", self.key)
        self.refuses("is for riscv64", package(self.folder, architecture="riscv64"), "--key", self.key)
        damaged = next((self.repository / "pool").rglob("*.deb"))
        data = damaged.read_bytes()
        damaged.write_bytes(data[:100])
        result = self.build(check=False)
        self.assertEqual(result.code, 65)
        self.assertIn("Not all of", result.err)
        damaged.write_bytes(data)
        self.refuses("has an invalid name", package(self.folder, source="../../../evil", content="z"), "--key", self.key)


class Repository(MachineTest):
    is_installed = False

    @classmethod
    def setUpClass(cls):
        for tool in TOOLS:
            if not shutil.which(tool):
                cls.skipTest(cls, f"{tool} is not installed")
        super().setUpClass()
        # It has no other source of packages: no network.
        execute("find", cls.machine.path("/etc/apt"), "-name", "*.list", "-delete")
        execute("find", cls.machine.path("/etc/apt"), "-name", "*.sources", "-delete")
        cls.folder = cls.scratch / "repository"
        cls.folder.mkdir()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.key = make_key(cls.folder, "signing")

    def serve(self, folder, port):
        """A static server in the network of the machine."""
        process = subprocess.Popen(
            ["nsenter", "--target", str(self.machine.leader), "--net", sys.executable, "-m", "http.server", str(port),
             "--bind", "127.0.0.1", "--directory", folder],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            preexec_fn=die_with_parent)
        self.addCleanup(commands.end, process)
        ready = ("nsenter", "--target", self.machine.leader, "--net", "ss", "--no-header", "--listening", "--tcp",
                 "--numeric", f"sport = :{port}")
        until("the server of the repository", lambda: execute(*ready).out)
        return f"http://127.0.0.1:{port}"

    def version(self):
        return self.machine.run("dpkg-query", "--show", "--showformat=${Version}", "syncagent").out

    def test_four_commands_install_it_and_apt_upgrades_it(self):
        run, machine, repository = self.machine.run, self.machine, self.folder / "r"
        build(repository, self.deb, "--key", self.key)
        address = self.serve(repository, 8080)
        # The commands of the article are those that an administrator types.
        section = INSTALLATION.read_text().partition("## From a repository\n")[2]
        block = re.search(r"(?s)```sh\n(.*?)```", section)[1]
        block = block.replace("https://packages.example.com/syncagent", address)
        self.assertEqual(len(re.findall(r"(?m)^(?=curl|cat|apt)", block)), 4)
        out = run("sh", "-euc", block, limit=120)
        self.assertNotRegex(out.err, r"(?m)^[EW]:")
        first = self.version()
        print(f"  {first} installed by four commands")
        mine = '# Changed by an administrator.\n[fetch]\nidleTimeout = "2m"\n'
        self.configure(mine)
        self.drop("apps", range(10))
        self.sync("apps")
        self.assertEqual(self.ready(), set(range(10)))
        counts, before = self.origin.counts(), self.pid()

        build(repository, self.later, "--key", self.key)
        with self.reading(range(10)):
            run("apt-get", "-qq", "update")
            run("apt-get", "-qq", "-y", "upgrade", limit=120)
            self.await_active(other_than=before)
        second = self.version()
        run("dpkg", "--compare-versions", second, "gt", first)
        until("the agent to be in sync", lambda: self.status()["inSync"])
        self.assertEqual(self.ready(), set(range(10)))
        self.assertEqual(self.origin.counts(), counts)
        self.assertEqual(machine.path(CONFIGURATION).read_text(), mine)
        self.assertEqual(machine.path(f"{LISTS}/apps.plist").read_bytes(), icons.plist(range(10)))
        print(f"  upgraded to {second} by apt upgrade: 10 icons, 0 requests")
        # The older one is still there, for who must go back.
        known = run("apt-cache", "madison", "syncagent").out
        for version in (first, second):
            self.assertIn(f" {version} ", known)

    def client(self, repository, address):
        """Runs apt-get with a repository and nothing else, and with its own memory of it."""
        self.machine.run("rm", "-rf", "/root/client")
        self.machine.run("mkdir", "-p", "/root/client/lists/partial")
        self.machine.write("/root/client/key.gpg", (repository / KEYRING).read_bytes())
        self.machine.write(
            "/root/client/sources/client.sources",
            f"Types: deb\nURIs: {address}\nSuites: stable\nComponents: main\nSigned-By: /root/client/key.gpg\n")

        def apt(*arguments, tool="apt-get"):
            return self.machine.run(
                tool, "-q", "-o", "Dir::Etc::SourceList=/dev/null", "-o", "Dir::Etc::SourceParts=/root/client/sources",
                "-o", "Dir::State::Lists=/root/client/lists", "-o", "APT::Sandbox::User=root", *arguments, check=False)
        return apt

    def test_clients_read_while_it_is_updated_and_never_go_back(self):
        repository, old = self.folder / "updated", self.folder / "old"
        build(repository, package(self.folder), "--key", self.key)
        shutil.copytree(repository, old)
        apt = self.client(repository, self.serve(repository, 8082))

        def update():
            for number in range(2, 22):
                build(repository, package(self.folder, version=f"{number}.0"), "--key", self.key)

        writer = threading.Thread(target=update, daemon=True)
        writer.start()
        reads = 0
        while writer.is_alive():
            result = apt("update", "--error-on=any")
            self.assertEqual(result.code, 0, result.err)
            reads += 1
        print(f"  20 updates of the repository, {reads} of a client meanwhile: all well")
        apt("update", "--error-on=any")
        self.assertIn("Candidate: 21.0", apt("policy", "syncagent-dummy", tool="apt-cache").out)

        # An old repository, signed as it is.
        for path in old.rglob("*Release*"):
            shutil.copyfile(path, repository / path.relative_to(old))
            os.utime(repository / path.relative_to(old), (time.time() + 60,) * 2)
        self.assertIn("Get:1", apt("update").out)
        self.assertIn("Candidate: 21.0", apt("policy", "syncagent-dummy", tool="apt-cache").out)

    def test_what_was_changed_on_the_way_is_refused(self):
        repository = self.folder / "tampered"
        dummy = package(self.folder)
        build(repository, dummy, "--key", self.key)
        original = self.folder / "original"
        shutil.copytree(repository, original)
        # Another server may have all that a repository has, but not the key.
        foreign = self.folder / "foreign"
        build(foreign, package(self.folder, content="y"), "--key", make_key(self.folder, "foreign"))
        address = self.serve(repository, 8081)
        apt = self.client(repository, address)

        def reset(source=original):
            shutil.rmtree(repository)
            shutil.copytree(source, repository)
            self.machine.run("rm", "-r", "/root/client/lists")
            self.machine.run("mkdir", "-p", "/root/client/lists/partial")
            self.machine.run("apt-get", "clean")

        def a_package():
            flip(next(repository.rglob("*.deb")))

        def an_index():
            for path in repository.rglob("binary-amd64/**/*"):
                if path.is_file():
                    flip(path)

        def a_release():
            for name in ("InRelease", "Release"):
                path = repository / "dists/stable" / name
                path.write_text(path.read_text().replace("Label: syncagent", "Label: syncagenz"))

        for change, pattern in (
                (lambda: None, None), (a_package, "Hash Sum mismatch"), (an_index, "Hash Sum mismatch"),
                (a_release, "BADSIG"), (lambda: reset(foreign), "NO_PUBKEY")):
            with self.subTest(pattern):
                reset()
                change()
                update = apt("update", "--error-on=any")
                install = apt("install", "-y", "syncagent-dummy")
                is_there = self.machine.path("/syncagent-dummy").exists()
                if pattern is None:
                    self.assertEqual((update.code, install.code, is_there), (0, 0, True), update.err + install.err)
                    self.machine.run("dpkg", "--purge", "syncagent-dummy")
                else:
                    self.assertNotEqual(install.code, 0)
                    self.assertFalse(is_there)
                    self.assertRegex(update.err + install.err, pattern)
                    print(f"  {re.search(f'.*{pattern}.*', update.err + install.err)[0].strip()}")
