# SPDX-License-Identifier: Apache-2.0
"""Machines: systemd in a container without a network but its own loopback."""
import contextlib
import itertools
import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys

import commands
import icons
from commands import CONTAINED, CommandFailed, die_with_parent, execute, until

FOLDER = pathlib.Path(__file__).resolve().parent
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# A public address: then the agent needs no setting to ask it. It exists inside the machine only.
ORIGIN = "93.184.216.34"
# What is to be ended when the suite ends.
running = []
numbers = itertools.count(1)


def end_everything():
    for process in list(commands.running):
        commands.end(process)
    for machine in list(running):
        machine.kill()


def children(process):
    with contextlib.suppress(OSError):
        return [int(child) for child in pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    return []


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
            *CONTAINED, "systemd-nspawn", "--quiet", f"--directory={self.root}", f"--machine={self.name}",
            "--register=no", "--private-network", "--boot", "--console=pipe", "--resolv-conf=off", "--timezone=off"]
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
        # unshare, systemd-nspawn, and what is the first process of two spaces: a copy of systemd-nspawn, until it has
        # its root.
        for nspawn in children(self.process.pid):
            for child in children(nspawn):
                with contextlib.suppress(OSError):
                    status = pathlib.Path(f"/proc/{child}/status").read_text()
                    name, known = (re.search(rf"^{key}:\t(.*)$", status, re.M)[1] for key in ("Name", "NSpid"))
                    if name == "systemd" and known.split()[-1] == "1":
                        return child
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
