# SPDX-License-Identifier: Apache-2.0
"""The agent: the built program, in a temporary folder, as its commands and its cache show it."""
import hashlib
import json
import os
import pathlib
import plistlib
import subprocess
import time

PROJECT = pathlib.Path(__file__).resolve().parents[2]

SETTINGS = {
    "CACHE_MIN_FREE": "0%", "IMAGES_ALLOW_SVG": "true", "FETCH_RETRY_BASE": "100ms", "FETCH_RETRY_MAX": "2s",
    "FETCH_IDLE_TIMEOUT": "10s", "FETCH_TOTAL_TIMEOUT": "30s",
}


class Stuck(Exception):
    """Something did not happen in time."""


def wait_until(condition, what, limit=30, pause=0.05):
    deadline = time.monotonic() + limit
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise Stuck(f"{what}: not within {limit} s")
        time.sleep(pause)
    return found


def find_program():
    program = os.environ.get("SYNCAGENT") or PROJECT / ".build/debug/syncagent"
    if not os.access(program, os.X_OK):
        raise SystemExit(f"{program} is missing: build it, or set SYNCAGENT")
    return os.path.abspath(program)


class Agent:
    """A running agent. It ends with its `with`."""

    def __init__(self, folder):
        self.program, self.folder = find_program(), pathlib.Path(folder)
        self.lists, self.cache = self.folder / "lists", self.folder / "cache"
        self.lists.mkdir(parents=True)
        socket = self.folder / "control.sock"
        self.options = [
            "--lists", self.lists, "--cache", self.cache, "--state", self.folder / "state", "--socket", socket]
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.folder),
            **{f"SYNCAGENT_{name}": value for name, value in SETTINGS.items()}}
        is_root = ["--allow-root"] if os.geteuid() == 0 else []
        with open(self.folder / "agent.log", "wb") as log:
            self.process = subprocess.Popen(
                [self.program, "run", *is_root, "--allow-network", "127.0.0.0/8", *self.options],
                env=self.environment, stdout=log, stderr=log)
        wait_until(socket.exists, "start of the agent")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def run(self, *command):
        return subprocess.run(
            [self.program, *command, *self.options], env=self.environment, capture_output=True, text=True, timeout=120)

    def drop(self, name, urls):
        """Puts a list in its place, as a tool would that nobody sees half of."""
        new = self.lists / f".{name}.new"
        new.write_bytes(plistlib.dumps([{"name": url.rpartition("/")[2], "icon": url} for url in urls]))
        new.rename(self.lists / name)

    def why(self, url):
        return json.loads(self.run("why", "--json", url).stdout or "{}")

    def error(self, url):
        """The code of the last failure; `None` if there is none."""
        failure = self.why(url).get("failure") or {}
        return failure.get("code")

    def image(self, url):
        """The bytes that readers of the cache find for a URL; `None` if there is no image."""
        name = hashlib.sha256(url.encode()).hexdigest()
        path = self.cache / "by-url" / name[:2] / name
        return path.read_bytes() if path.exists() else None

    def is_idle(self):
        downloads = json.loads(self.run("status", "--json").stdout)["downloads"]
        return downloads["active"] == 0 and downloads["queued"] == 0

    def refresh(self, relay, names, *options):
        """Refreshes icons, and returns their exchanges when all is published."""
        mark = relay.mark()
        result = self.run("refresh", *options, *map(relay.url, names))
        if result.returncode != 0:
            raise Stuck(f"refresh: {result.stdout}{result.stderr}")
        wait_until(lambda: all(relay.since(mark, name) for name in names), "requests of a refresh")
        wait_until(self.is_idle, "end of a refresh", limit=60)
        self.run("sync", "--wait")
        return {name: relay.since(mark, name) for name in names}
