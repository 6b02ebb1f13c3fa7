# SPDX-License-Identifier: Apache-2.0
"""A container of the image, as an engine would start it: runc without an engine."""
import json
import os
import pathlib
import platform
import subprocess
import time

from commands import die_with_parent, execute, until

PROFILE = pathlib.Path("/usr/share/containers/seccomp.json")
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
AGENT = 65530


def engine_filter():
    """The filter of system calls that engines use by default, for a process without capabilities."""
    if not PROFILE.exists():
        return None
    profile = json.loads(PROFILE.read_text())
    own = ARCHITECTURES[platform.machine()]
    calls = []
    for rule in profile["syscalls"]:
        only, never = rule.get("includes") or {}, rule.get("excludes") or {}
        if only.get("caps") or (only.get("arches") and own not in only["arches"]) or own in (never.get("arches") or ()):
            continue
        names = ("names", "action", "args", "errnoRet")
        calls.append({name: rule[name] for name in names if rule.get(name)})
    return {
        "defaultAction": profile["defaultAction"], "defaultErrnoRet": profile.get("defaultErrnoRet", 1),
        "architectures": [f"SCMP_ARCH_{platform.machine().upper()}"], "syscalls": calls}


class Container:
    """One container. What is given as `mounts` are folders of this machine by the path inside."""
    count = 0

    def __init__(self, image, root, folder, arguments=(), mounts=None, environment=(), user=AGENT):
        Container.count += 1
        self.name = f"syncagent-{os.getpid()}-{Container.count}"
        self.folder = folder / self.name
        self.folder.mkdir()
        self.state = folder / "runc"
        self.log = self.folder / "log"
        self.process = None
        mounts = [
            {"destination": path, "type": "bind", "source": str(source),
             "options": ["rbind", "nosuid", "nodev", "noexec", "ro" if path.startswith("/etc") else "rw"]}
            for path, source in (mounts or {}).items()]
        # A tmpfs takes over the mode of the folder in the image, and belongs to root.
        if not any(mount["destination"].startswith("/run") for mount in mounts):
            mounts.insert(0, {
                "destination": "/run", "type": "tmpfs", "source": "tmpfs",
                "options": ["nosuid", "nodev", "noexec", "size=1m"]})
        arguments = list(arguments) or image.config["Cmd"]
        specification = {
            "ociVersion": "1.0.2",
            "process": {
                "user": {"uid": user, "gid": user}, "cwd": image.config["WorkingDir"],
                "args": [*image.config["Entrypoint"], *arguments],
                "env": [*image.config["Env"], *environment],
                "noNewPrivileges": True, "capabilities": {}},
            "root": {"path": str(root), "readonly": True},
            "hostname": "container",
            "mounts": [
                {"destination": "/proc", "type": "proc", "source": "proc", "options": ["nosuid", "noexec", "nodev"]},
                {"destination": "/dev", "type": "tmpfs", "source": "tmpfs",
                 "options": ["nosuid", "strictatime", "mode=755", "size=65536k"]},
                *mounts],
            "linux": {
                # Without a network of its own: the origin is on loopback.
                "namespaces": [{"type": kind} for kind in ("pid", "ipc", "uts", "mount")],
                "maskedPaths": ["/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sched_debug"],
                "readonlyPaths": ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]}}
        if profile := engine_filter():
            specification["linux"]["seccomp"] = profile
        (self.folder / "config.json").write_text(json.dumps(specification))

    def runc(self, *arguments, **options):
        return execute("runc", "--root", self.state, *arguments, **options)

    def start(self):
        """Starts the agent, and waits until it answers."""
        self.began = time.monotonic()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                ["runc", "--root", str(self.state), "run", "--bundle", str(self.folder), self.name],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, preexec_fn=die_with_parent)
        until(lambda: f"the agent to answer:\n{self.text()}", self.is_healthy)
        self.took = time.monotonic() - self.began
        # The agent's process, as this machine numbers it.
        self.agent = json.loads(self.runc("state", self.name).out)["pid"]
        return self

    def is_healthy(self):
        if self.process.poll() is not None:
            raise AssertionError(f"The container ended with {self.process.returncode}:\n{self.text()}")
        return self.syncagent("status", "--health", check=False).code == 0

    def text(self):
        return self.log.read_text(errors="replace")

    def syncagent(self, *arguments, **options):
        """Runs a command inside, as “docker exec” does."""
        return self.runc("exec", self.name, "/usr/bin/syncagent", *arguments, **options)

    def stop(self, limit=2):
        """Sends the signal of the image, and returns the exit code and the seconds until the end."""
        begin = time.monotonic()
        self.runc("kill", self.name, "TERM")
        code = self.process.wait(limit)
        return code, time.monotonic() - begin

    def run(self, limit=20):
        """Runs it to its end, which is expected to come by itself."""
        return execute("runc", "--root", self.state, "run", "--bundle", self.folder, self.name, check=False, limit=limit)

    def remove(self):
        """Ends it, if it still runs."""
        self.runc("delete", "--force", self.name, check=False)
        if self.process:
            self.process.wait(10)
