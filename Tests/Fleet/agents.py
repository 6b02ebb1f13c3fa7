# SPDX-License-Identifier: Apache-2.0
"""Agents, each with folders of its own; and trees that `syncagent export` writes."""
import hashlib
import json
import os
import pathlib
import plistlib

import icons
from commands import execute, until
from processes import Process

# A fleet in a hurry: what takes minutes by default takes seconds.
HASTE = {"poll": "2s", "wait": "2m", "spread": "2s", "missTTL": "1s", "breakFor": "1s", "breakMax": "3s"}


class Agent:
    """An agent. `fallback` is that of its upstream; without upstreams it is the seeder of the fleet."""

    def __init__(self, programs, folder, name, upstreams=(), asks_origins=True, **settings):
        self.program = programs / "syncagent"
        self.name = name
        self.folder = pathlib.Path(folder) / name
        self.lists = self.folder / "lists"
        self.cache = self.folder / "cache"
        self.process = None
        self.asks_origins = asks_origins
        # The command that runs it, such as one with another clock.
        self.around = ()
        self.lists.mkdir(parents=True)
        self.upstream = {}
        if upstreams:
            self.upstream = {"urls": list(upstreams), **HASTE, "fallback": "origin" if asks_origins else "never"}
        self.upstream |= settings
        self.configure()

    def configure(self, **settings):
        """Writes its configuration, with other settings: of its upstreams, or with the name of their table."""
        self.upstream |= settings
        # What JSON writes of texts and lists of them is TOML, too.
        text = "".join(f"{key if '.' in key else f'upstream.{key}'} = {json.dumps(value)}\n"
                       for key, value in self.upstream.items())
        (self.folder / "syncagent.toml").write_text(text)

    @property
    def options(self):
        return ["--config", self.folder / "syncagent.toml", "--lists", self.lists, "--cache", self.cache,
                "--state", self.folder / "state", "--socket", self.folder / "socket"]

    def start(self):
        command = [*self.around, self.program, "run", *self.options]
        if os.geteuid() == 0:
            command.append("--allow-root")
        if self.asks_origins:
            command += ["--allow-network", "127.0.0.0/8"]
        self.process = Process(self.name, command, self.folder / "log")
        return self

    def stop(self):
        if self.process:
            self.process.stop(limit=20)

    def kill(self):
        self.process.kill()

    def command(self, *arguments, check=True, limit=120, **options):
        return execute(self.program, *arguments, *self.options, check=check, limit=limit, **options)

    def drop(self, name, urls):
        """Puts a list into its folder, with a rename."""
        temporary = self.lists / f".{name}"
        temporary.write_bytes(plistlib.dumps([{"name": f"App {url}", "icon": url} for url in urls]))
        os.replace(temporary, self.lists / f"{name}.plist")

    def status(self):
        return json.loads(self.command("status", "--json", check=False).out)

    def states(self):
        """The state of each upstream, and the code of what is wrong with it."""
        return [(one["state"], one.get("code")) for one in self.upstreams()]

    def upstreams(self):
        return self.status().get("upstreams", [])

    def manifest(self):
        try:
            return json.loads((self.cache / "manifest.json").read_bytes())
        except FileNotFoundError:
            return {"generation": 0, "lists": {}}

    def ready(self):
        """How many entries of its lists are ready."""
        return sum(entry["ready"] for entry in self.manifest()["lists"].values())

    def apps(self):
        """The entries of its lists."""
        for entry in self.manifest()["lists"].values():
            try:
                yield from json.loads((self.cache / entry["document"]).read_bytes())["apps"]
            except FileNotFoundError:
                # It published meanwhile, and removed the document.
                pass

    def pending(self):
        """The numbers of the icons that it waits for."""
        return {number_of(app["icon"]) for app in self.apps() if app["status"] != "ready"}

    def holds(self, lists):
        """Whether just these icons are ready, of lists that have these names."""
        wanted = {number for numbers in lists.values() for number in numbers}
        return {number_of(app["icon"]) for app in self.apps() if app["status"] == "ready"} == wanted

    def numbers(self):
        """The numbers of the icons that are ready, each read and compared."""
        return verified(self.cache)

    def await_ready(self, count, limit):
        until(lambda: f"{count} icons of {self.name}, which has {self.ready()}", lambda: self.ready() >= count, limit)

    def export(self, *arguments, check=True, limit=300, **options):
        """Exports its cache."""
        return execute(self.program, "export", *arguments, *self.options, check=check, limit=limit, **options)


def verified(tree):
    """The numbers of the icons of a tree that are ready. Fails if anything that it names is missing or wrong."""
    manifest = json.loads((tree / "manifest.json").read_bytes())
    numbers = set()
    for entry in manifest["lists"].values():
        document = (tree / entry["document"]).read_bytes()
        assert hashlib.sha256(document).hexdigest() == entry["sha256"], entry["document"]
        for app in json.loads(document)["apps"]:
            if app["status"] == "ready":
                image = (tree / app["path"]).read_bytes()
                number = number_of(app["icon"])
                assert image == icons.png(number), f"{app['path']} is not the image of {app['icon']}"
                assert hashlib.sha256(image).hexdigest() == app["sha256"], app["path"]
                numbers.add(number)
    return numbers


def number_of(url):
    return int(url.rpartition("/")[2].removesuffix(".png"))
