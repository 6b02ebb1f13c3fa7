# SPDX-License-Identifier: Apache-2.0
"""Installs servers in a folder, and starts them at free ports of 127.0.0.1."""
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys

from agent import wait_until


class Unavailable(Exception):
    """A server that cannot be installed or started, and why."""


def last_line(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1].strip()[:160] if lines else "no message"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Store:
    """What is installed: a tree for all packages of Debian, and a folder for each set of packages of PyPI."""

    def __init__(self, folder):
        self.folder = folder
        self.tree = folder / "debian"
        self.archives = folder / "archives"
        (self.archives / "partial").mkdir(parents=True, exist_ok=True)
        for name in ("usr", "etc"):
            (self.tree / name).mkdir(parents=True, exist_ok=True)

    def debian(self, *packages):
        """Unpacks packages, and what they depend on, unless the machine has them. Returns the first one's version."""
        if os.geteuid() != 0:
            raise Unavailable("needs root, to lay a folder over /usr")
        result = subprocess.run(
            ["apt-get", "-qq", "-y", "--no-install-recommends", "--download-only", "-o",
             f"Dir::Cache::archives={self.archives}", "-o", "APT::Sandbox::User=root", "install", *packages],
            capture_output=True, text=True, env={**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"})
        if result.returncode != 0:
            raise Unavailable(last_line(result.stderr))
        for archive in self.archives.glob("*.deb"):
            mark = self.folder / f"{archive.name}.unpacked"
            if not mark.exists():
                subprocess.run(["dpkg-deb", "-x", archive, self.tree], check=True)
                mark.touch()
        # Old packages have programs and libraries beside /usr.
        for name in ("bin", "sbin", "lib"):
            if (self.tree / name).is_dir():
                subprocess.run(
                    ["cp", "-a", "--remove-destination", f"{self.tree / name}/.", self.tree / "usr" / name], check=True)
        policy = subprocess.run(
            ["apt-cache", "policy", packages[0]], capture_output=True, text=True, env={"LC_ALL": "C", **os.environ})
        return short_version(re.search(r"Candidate: (\S+)", policy.stdout)[1])

    def pypi(self, *requirements):
        """Installs packages in a folder of their own."""
        name = re.sub(r"[^\w.]+", "-", "-".join(requirements))
        target = self.folder / "pypi" / name
        if not target.exists():
            new = self.folder / "pypi" / f".{name}"
            shutil.rmtree(new, ignore_errors=True)
            result = subprocess.run(
                [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input",
                 "--root-user-action", "ignore", "--no-warn-conflicts", "--target", new, *requirements],
                capture_output=True, text=True)
            if result.returncode != 0:
                raise Unavailable(last_line(result.stderr))
            new.rename(target)
        return target


def short_version(text):
    """A version without its epoch and Debian's own part."""
    return re.sub(r"(\+(ds|dfsg|git|really|~)[^-]*)?(-[^-]*)?$", "", text.partition(":")[2] or text)


class Place:
    """What a server gets to be started with: its folder, its port, and the folder that it serves or the port of its origin."""

    def __init__(self, folder, site, origin, store, libraries=None):
        self.folder, self.site, self.origin, self.port = folder, site, origin, free_port()
        self.store, self.libraries = store, libraries

    def program(self, name):
        """A program that PyPI has packed."""
        return self.libraries / "bin" / name

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def make(self, name):
        """A folder in which servers may write that are not root any more."""
        path = self.folder / name
        path.mkdir(parents=True, exist_ok=True)
        path.chmod(0o777)
        return path


class Server:
    """A running server."""

    def __init__(self, row, place):
        self.row, self.place, self.port = row, place, place.port
        self.process = None
        self.start()

    def start(self):
        place = self.place
        command = list(map(str, self.row.start(place)))
        environment = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(place.folder),
            "TMPDIR": str(place.folder), "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
        if self.row.packages:
            # Programs find what they need where Debian puts it, and nothing is installed on the machine.
            tree = place.store.tree
            script = (f"mount -t overlay overlay -o lowerdir={tree}/usr:/usr /usr && "
                      f"mount -t overlay overlay -o lowerdir={tree}/etc:/etc /etc && exec \"$@\"")
            command = ["unshare", "--mount", "sh", "-c", script, "sh", *command]
        if place.libraries:
            environment["PYTHONPATH"] = str(place.libraries)
            environment["PATH"] = f"{place.libraries}/bin:{environment['PATH']}"
        self.log = place.folder / "output"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                ["nice", *command], cwd=place.folder, env=environment, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, start_new_session=True)
        try:
            wait_until(self.is_listening, "start", limit=40)
        except Exception:
            text = self.log.read_text(errors="replace")
            self.stop()
            raise Unavailable(f"does not start: {last_line(text)}") from None

    def is_listening(self):
        if self.process.poll() is not None:
            raise Unavailable("ended")
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        except OSError:
            return False

    def stop(self):
        for number, limit in ((signal.SIGTERM, 5), (signal.SIGKILL, 10)):
            try:
                os.killpg(self.process.pid, number)
            except ProcessLookupError:
                pass
            try:
                self.process.wait(limit)
            except subprocess.TimeoutExpired:
                continue
        # Workers that outlive their parent would keep the port.
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def restart(self):
        self.stop()
        wait_until(lambda: not self.is_open(), "end of a server", limit=20)
        self.start()

    def is_open(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        except OSError:
            return False


class Row:
    """A server of the table: its name, with {} for its version unless that comes last, what it needs, and its command."""

    def __init__(self, name, start, packages, requirements, note, source):
        self.name, self.start, self.note = name, start, note
        self.packages, self.requirements = packages, requirements
        self.source = source or ("Debian" if packages else "PyPI")

    def install(self, store):
        """Installs it. Returns its name with the version, and the folder of its libraries, if it has one."""
        libraries = store.pypi(*self.requirements) if self.requirements else None
        others = ""
        if self.packages:
            version = store.debian(*self.packages)
        elif self.requirements:
            version = self.requirements[0].partition("==")[2]
            others = "".join(f", {one.replace('==', ' ')}" for one in self.requirements[1:])
        else:
            version = ".".join(map(str, sys.version_info[:3]))
        name = self.name if "{}" in self.name else f"{self.name} {{}}"
        return name.replace("{}", version) + others, libraries


def row(rows, name, *, debian=(), pypi=(), note="", source=None):
    """Registers a server. What is decorated writes its configuration, and returns its command."""
    def register(start):
        rows.append(Row(name, start, list(debian), list(pypi), note, source))
        return start
    return register


def launcher(row_of, store, folder, libraries):
    """What starts a server on a folder, or before an origin."""
    def launch(site, origin=None):
        home = folder / "server"
        home.mkdir(mode=0o755, exist_ok=True)
        return Server(row_of, Place(home, site, origin, store, libraries))
    return launch


def folder_of(path):
    pathlib.Path(path).mkdir(parents=True, exist_ok=True)
    os.chmod(path, 0o755)
    return pathlib.Path(path)
