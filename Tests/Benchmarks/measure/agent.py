# SPDX-License-Identifier: Apache-2.0
"""An agent in folders of its own, and how it is asked and measured."""
import json
import os
import select
import socket
import subprocess
import time
from plistlib import dumps


class Folders:
    """Where an agent has its lists, its cache and its state."""

    def __init__(self, program, folder, settings=None):
        self.program, self.folder = program, folder
        self.cache, self.socket = f"{folder}/cache", f"{folder}/control.sock"
        self.manifest = f"{self.cache}/manifest.json"
        self.environment = dict(os.environ, SYNCAGENT_CACHE_MIN_FREE="0%", **(settings or {}))
        os.makedirs(f"{folder}/lists.d", exist_ok=True)

    def command(self, name, *arguments):
        options = ["--allow-root", "--allow-network", "127.0.0.0/8", "--log-level", "error"] if name == "run" else []
        return [
            self.program, name, *options, "--lists", f"{self.folder}/lists.d", "--cache", self.cache,
            "--state", f"{self.folder}/state", "--socket", self.socket, *arguments]

    def call(self, name, *arguments):
        return subprocess.run(self.command(name, *arguments), env=self.environment, capture_output=True, text=True)

    def drop(self, name, urls):
        """Puts a list into the folder, at once and whole."""
        with open(f"{self.folder}/new", "wb") as file:
            file.write(dumps(urls))
        os.rename(f"{self.folder}/new", f"{self.folder}/lists.d/{name}")

    def published(self, name):
        """The document of a list in the newest manifest, and what that says of it; `None` if there is none."""
        try:
            with open(self.manifest, "rb") as file:
                entry = json.load(file)["lists"].get(name)
            if entry is None:
                return None
            with open(f"{self.cache}/{entry['document']}", "rb") as file:
                return entry, json.load(file)
        except FileNotFoundError:
            return None

    def wait_for_manifest(self, is_wanted, start=None, limit=120):
        """The seconds from the start (now) until a manifest is what is wanted."""
        start = start or time.monotonic()
        seen = None
        while time.monotonic() - start < limit:
            try:
                inode = os.stat(self.manifest).st_ino
            except FileNotFoundError:
                inode = None
            if inode != seen:
                end, seen = time.monotonic(), inode
                if is_wanted():
                    return end - start
            time.sleep(0.001)
        raise RuntimeError(f"what was waited for was not published within {limit} s")


class Client:
    """A connection to the control socket."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(path)
        self.rest = b""

    def ask(self, path="/v1/status"):
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: agent\r\n\r\n".encode())
        while b"\r\n\r\n" not in self.rest:
            self.rest += self.receive()
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        while len(self.rest) < length:
            self.rest += self.receive()
        body, self.rest = self.rest[:length], self.rest[length:]
        return body

    def status(self):
        return json.loads(self.ask())

    def receive(self):
        data = self.socket.recv(1 << 20)
        if not data:
            raise ConnectionError("the agent closed the connection")
        return data


class Agent:
    """A running agent: `with Agent(folders) as agent:`."""

    def __init__(self, folders):
        self.folders = folders

    def __enter__(self):
        path = f"{self.folders.folder}/notify.sock"
        if os.path.exists(path):
            os.unlink(path)
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind(path)
        self.begun = time.monotonic()
        self.process = subprocess.Popen(
            self.folders.command("run"), env=dict(self.folders.environment, NOTIFY_SOCKET=path))
        self.pid = self.process.pid
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.notify.close()

    def start(self, icons):
        """The seconds until it is ready, and until its status says that all icons are.

        It is ready when it says READY=1; if it does not speak sd_notify, when its control socket answers.
        """
        told = answered = client = None
        while self.process.poll() is None:
            if told is None:
                told = self._notified(0.005)
            else:
                time.sleep(0.005)
            try:
                client = client or Client(self.folders.socket)
                status = client.status()
            except (FileNotFoundError, ConnectionError):
                client = None
                continue
            now = time.monotonic() - self.begun
            answered = answered or now
            if status["inSync"] and status["icons"]["ready"] >= icons:
                return told or self._notified(0.2) or answered, now
        raise RuntimeError("the agent ended")

    def _notified(self, limit):
        """When it said that it is ready, in seconds from its start; `None` if it does not say so within the limit."""
        if select.select([self.notify], [], [], limit)[0] and b"READY=1" in self.notify.recv(4096).split(b"\n"):
            return time.monotonic() - self.begun
        return None

    def wait_until(self, is_wanted, every=0.05):
        """The last status, once it is what is wanted."""
        client = None
        while self.process.poll() is None:
            try:
                client = client or Client(self.folders.socket)
                status = client.status()
                if is_wanted(status):
                    return status
            except (FileNotFoundError, ConnectionError):
                client = None
            time.sleep(every)
        raise RuntimeError("the agent ended")

    def wait_until_in_sync(self, icons, every=0.05):
        return self.wait_until(lambda status: status["inSync"] and status["icons"]["ready"] >= icons, every)

    def memory(self):
        """What is resident now, and was at most, in MiB."""
        with open(f"/proc/{self.pid}/status") as file:
            fields = dict(line.split(":", 1) for line in file)
        return [int(fields[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM")]

    def activity(self):
        """How often each thread of the agent and its helpers was woken, and its processor time in seconds."""
        found = {}
        for pid in [self.pid, *_children(self.pid)]:
            for thread in os.listdir(f"/proc/{pid}/task"):
                try:
                    with open(f"/proc/{pid}/task/{thread}/status") as file:
                        fields = dict(line.split(":", 1) for line in file)
                    with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
                        used = int(file.read().split()[0]) / 1e9
                    found[pid, thread] = int(fields["voluntary_ctxt_switches"]), used
                except FileNotFoundError:
                    pass
        return found


def _children(pid):
    children = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/children") as file:
            children += file.read().split()
    return children
