# SPDX-License-Identifier: Apache-2.0
"""Debian roots, and machines that boot them: systemd in a container without a network but its own loopback."""
import contextlib
import ctypes
import hashlib
import itertools
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from typing import NamedTuple

import icons

FOLDER = pathlib.Path(__file__).resolve().parent
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# A public address: then the agent needs no setting to ask it. It exists inside the machine only.
ORIGIN = "93.184.216.34"
# What is to be ended when the suite ends.
running = []
commands = set()
# Looked up before a fork, when other threads can hold no lock that this needs.
prctl = ctypes.CDLL(None).prctl
numbers = itertools.count(1)


class Result(NamedTuple):
    code: int
    out: str
    err: str


class CommandFailed(AssertionError):
    pass


def die_with_parent():
    """Between fork and exec: has the kernel end this process when the suite ends, however that is."""
    prctl(1, signal.SIGKILL)


def execute(*command, limit=60, check=True, data=b"", **options):
    """Runs a command to its end, or ends it and all that it started.

    Its output goes to files: a process that it leaves behind holds no pipe that somebody would wait for.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as stdin:
        stdin.write(data)
        stdin.seek(0)
        process = subprocess.Popen(
            [str(part) for part in command], stdin=stdin, stdout=out, stderr=err, start_new_session=True,
            preexec_fn=die_with_parent, **options)
        commands.add(process)
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            end(process)
            commands.discard(process)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    if code is None or (check and code):
        ended = f"took more than {limit} s" if code is None else f"ended with {code}"
        raise CommandFailed(f"{' '.join(map(str, command))} {ended}.\n{texts[0]}{texts[1]}")
    return Result(code, *texts)


def end(process):
    """Ends a command, if it still runs, and whatever it started that is in its group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def end_everything():
    for process in list(commands):
        end(process)
    for machine in list(running):
        machine.kill()


def until(what, condition, limit=30):
    """Waits for a condition and returns its value. `what` completes the sentence "waited in vain for …"."""
    end = time.monotonic() + limit
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"Waited {limit} s in vain for {what() if callable(what) else what}.")
        time.sleep(0.02)
    return value


class Later:
    """A value that is computed beside other work."""

    def __init__(self, work, *arguments):
        self.value = self.error = None
        # Not one that is waited for if the suite is interrupted.
        self.thread = threading.Thread(target=self._compute, args=(work, arguments), daemon=True)
        self.thread.start()

    def _compute(self, work, arguments):
        try:
            self.value = work(*arguments)
        except Exception as error:
            self.error = error

    def get(self):
        self.thread.join()
        if self.error:
            raise self.error
        return self.value


def what_is_missing():
    """Why no machine can be made here."""
    if os.geteuid() != 0:
        return "root"
    for tool in ("mmdebstrap", "systemd-nspawn", "nsenter", "unshare", "ip"):
        if not shutil.which(tool):
            return tool
    try:
        execute("unshare", "--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "true")
    except CommandFailed as error:
        return f"namespaces: {error}"
    return None


def debian_root(suite, packages, folder, mirrors=None):
    """A root of a suite with these packages. It is made once; Debian's from the mirror that this machine uses."""
    packages = sorted(packages)
    name = hashlib.sha256(" ".join(packages).encode()).hexdigest()[:12]
    root = folder / f"{suite}-{name}"
    if root.exists():
        return root
    start = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{root.name}.part"
    if part.exists():
        shutil.rmtree(part)
    # Options of apt such as a proxy come from this machine, and do not stay in the root.
    dump = execute("apt-config", "dump", "Acquire").out.splitlines()
    kept = ("Acquire::http", "Acquire::Check-", "Acquire::Retries", "Acquire::ForceIPv")
    options = [f"--aptopt={line}" for line in dump if line.startswith(kept) and not line.endswith(' "";')]
    execute(
        "mmdebstrap", "--mode=root", "--variant=minbase", *options, f"--include={','.join(packages)}",
        "--dpkgopt=path-exclude=/usr/share/locale/*", "--customize-hook=rm -f $1/etc/apt/apt.conf.d/99mmdebstrap",
        suite, part, *(mirrors or own_mirrors(suite)), limit=400)
    part.rename(root)
    print(f"Made a root of {suite}: {time.monotonic() - start:.0f} s", flush=True)
    return root


def own_mirrors(suite):
    """The mirrors of this machine, if it is a Debian that has some."""
    form = "$(REPO_URI) $(LABEL)"
    listed = execute("apt-get", "indextargets", "--format", form, "Created-By: Packages", "Origin: Debian", check=False)
    known = dict(reversed(line.split(" ", 1)) for line in listed.out.splitlines())
    if "Debian" not in known:
        return []
    lines = [f"deb {known['Debian']} {suite} main", f"deb {known['Debian']} {suite}-updates main"]
    if "Debian-Security" in known:
        lines.append(f"deb {known['Debian-Security']} {suite}-security main")
    return lines


class ControlGroup:
    """A control group of its own, so that the system inside sees nobody else's, and leaves nothing."""

    def __init__(self, name):
        self.folders = []
        for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            for mount in ("systemd",) if controllers == "name=systemd" else ("unified", "") if not controllers else ():
                top = pathlib.Path("/sys/fs/cgroup", mount)
                if (top / "cgroup.procs").exists():
                    self.folders.append(top / path.lstrip("/") / name)
                    break

    def enter(self):
        for folder in self.folders:
            folder.mkdir(exist_ok=True)
            (folder / "cgroup.procs").write_text("0")

    def remove(self):
        for folder in self.folders:
            for path, _, _ in os.walk(folder, topdown=False):
                with contextlib.suppress(OSError):
                    os.rmdir(path)


class Machine:
    """A copy of a root, and systemd in it."""

    def __init__(self, root, scratch):
        self.name = f"syncagent-{os.getpid()}-{next(numbers)}"
        self.root = scratch / self.name
        self.group = ControlGroup(self.name)
        self.process = self.leader = self.origin = None
        running.append(self)
        execute("cp", "-a", root, self.root, limit=120)
        (self.root / "etc/hostname").write_text("debian\n")
        (self.root / "etc/hosts").write_text(f"127.0.0.1 localhost debian\n{ORIGIN} {icons.HOST}\n")

    def boot(self):
        def prepare():
            die_with_parent()
            if not booted_by_systemd:
                self.group.enter()

        # Without a manager of units on this machine, nobody else can make a control group.
        booted_by_systemd = os.path.isdir("/run/systemd/system")
        command = [
            "systemd-nspawn", "--quiet", f"--directory={self.root}", f"--machine={self.name}", "--register=no",
            "--private-network", "--boot", "--console=pipe", "--resolv-conf=off", "--timezone=off"]
        if not booted_by_systemd:
            command.append("--keep-unit")
        with open(self.root.with_suffix(".console"), "ab") as console:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=console, stderr=console, start_new_session=True,
                preexec_fn=prepare)
        try:
            self.leader = until("the first process of the machine", self._first_process, 20)
            until("systemd to be up", lambda: self.run("systemctl", "is-system-running", check=False).out.strip()
                  in ("running", "degraded"), 60)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.root.with_suffix('.console').read_text(errors='replace')}") from None
        self.network("addr", "add", f"{ORIGIN}/32", "dev", "lo")

    def _first_process(self):
        if self.process.poll() is not None:
            raise AssertionError(f"systemd-nspawn ended with {self.process.returncode}.")
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        for child in children:
            with contextlib.suppress(OSError):
                status = pathlib.Path(f"/proc/{child}/status").read_text()
                if any(line.split()[-1] == "1" and len(line.split()) == 3
                       for line in status.splitlines() if line.startswith("NSpid:")):
                    # It is a copy of systemd-nspawn until it has its root.
                    if pathlib.Path(f"/proc/{child}/comm").read_text().strip() == "systemd":
                        return int(child)
        return None

    def shut_down(self):
        """Shuts it down as its `poweroff` does. It can be booted again."""
        if self.origin:
            self.origin.stop()
        self.run("systemctl", "poweroff", check=False, limit=10)
        self.process.wait(30)

    def stop(self):
        """Shuts it down, or ends it, and removes it."""
        if self.leader and self.process.poll() is None:
            with contextlib.suppress(CommandFailed, subprocess.TimeoutExpired):
                self.shut_down()
        self.kill()

    def kill(self):
        if self.origin:
            self.origin.stop()
        if self.process and self.process.poll() is None:
            # The kernel ends all processes of the machine with the first one.
            with contextlib.suppress(ProcessLookupError):
                if self.leader:
                    os.kill(self.leader, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(10)
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()
            self.process.wait()
        self.group.remove()
        for folder in (self.root, pathlib.Path("/run/systemd/nspawn/propagate", self.name)):
            if folder.exists():
                shutil.rmtree(folder, ignore_errors=True)
        self.root.with_suffix(".console").unlink(missing_ok=True)
        if self in running:
            running.remove(self)

    def run(self, *command, user=None, environment=(), **options):
        """Runs a command inside, as root or as a user with the groups and the home that the user has."""
        by = ["runuser", "-u", user, "--"] if user else []
        home = f"/home/{user}" if user else "/root"
        return execute(
            "nsenter", "--target", self.leader, "--all", "env", "-i", f"PATH={PATH}", "LANG=C.UTF-8", "TERM=dumb",
            f"HOME={home}", "DEBIAN_FRONTEND=noninteractive", *environment, *by, *command, **options)

    def network(self, *arguments):
        execute("nsenter", "--target", self.leader, "--net", "ip", *arguments)

    def path(self, path):
        """A file of the machine, through what is mounted there."""
        return pathlib.Path(f"/proc/{self.leader}/root", path.lstrip("/"))

    def write(self, path, content, mode=0o644):
        """Puts a whole file into the machine: under another name first, as an administrator's tools do."""
        target = self.path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f".{target.name}.part")
        part.write_bytes(content if isinstance(content, bytes) else content.encode())
        part.chmod(mode)
        part.rename(target)

    def serve_icons(self):
        self.origin = Origin(self)
        return self.origin

    def show(self, *properties, unit="syncagent.service"):
        """Properties of a unit."""
        out = self.run("systemctl", "show", unit, *(f"--property={name}" for name in properties)).out
        values = dict(line.split("=", 1) for line in out.splitlines())
        return values[properties[0]] if len(properties) == 1 else values

    def cursor(self):
        """The place in the journal after its last entry."""
        self.run("journalctl", "--sync")
        return self.run("journalctl", "--lines=0", "--show-cursor").out.partition("cursor: ")[2].strip()

    def journal(self, cursor=None):
        """What was logged after a place, or since the machine was booted."""
        self.run("journalctl", "--sync")
        after = [f"--after-cursor={cursor}"] if cursor else ["--boot"]
        out = self.run("journalctl", "--output=json", "--all", *after).out
        return [json.loads(line) for line in out.splitlines()]


class Origin:
    """origin.py in the network of a machine."""

    def __init__(self, machine):
        self.process = subprocess.Popen(
            ["nsenter", "--target", str(machine.leader), "--net", sys.executable, FOLDER / "origin.py", ORIGIN, "80"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
            preexec_fn=die_with_parent)
        self._answer()

    def tell(self, command):
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self):
        is_there, _, _ = select.select([self.process.stdout], [], [], 20)
        line = is_there and self.process.stdout.readline()
        if not line:
            raise AssertionError("The origin does not answer.")
        return json.loads(line)

    def counts(self):
        return {int(number): count for number, count in self.tell("counts").items()}

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
