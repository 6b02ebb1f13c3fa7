# SPDX-License-Identifier: Apache-2.0
"""What one server of files does with the agent's requests when files change."""
import os
import time

import images
from agent import Agent, Stuck, wait_until
from relay import Relay

DAY = 86_400 * 10**9
# Servers may keep what they know of a file for some seconds, and a few for half a minute.
SETTLED, LATER = 3, 35

# What happens to a file: the part of a second of its first time, the days and parts of a second by which the
# time of its next version differs, and whether that has another size.
CHANGES = {
    "same": None,
    "newer": (0, 5 * DAY, True),
    "older": (0, -5 * DAY, True),
    "second": (10**8, 5 * 10**8, False),
    "clamped-size": (0, 0, True),
    "clamped": (0, 0, False),
}


class Site:
    """The folder that is served."""

    def __init__(self, folder):
        self.folder = folder
        self.begin = time.time_ns() // 10**9 * 10**9 - 10 * DAY
        folder.mkdir(mode=0o755)

    def put(self, name, data, after=0):
        """Writes a file with a time so many nanoseconds after that of the first ones, and puts it in its place."""
        path, new = self.folder / name, self.folder / f".{name}.new"
        new.write_bytes(data)
        new.chmod(0o644)
        os.utime(new, ns=(self.begin + after, self.begin + after))
        new.rename(path)


def validators(fields):
    """A few words about the validators of a response."""
    tag, date = fields.get("etag"), fields.get("last-modified")
    words = []
    if tag:
        words.append("weak tag" if tag.startswith("W/") else "strong tag" if tag.startswith('"') else "malformed tag")
    if date:
        words.append("date")
    return ", ".join(words) or "none"


class Trial:
    """A server, its folder, a relay before it, and an agent."""

    def __init__(self, launch, folder):
        """`launch` starts the server on a folder, at a free port, and gives the port, a restart and a stop."""
        self.site = Site(folder / "site")
        self.versions = {}
        for name, change in CHANGES.items():
            self.put(f"{name}.png", images.picture(f"{name} 1"), change[0] if change else 0)
        for name in ("cut", "replaced"):
            self.put(f"{name}.png", images.picture(f"{name} 1", side=300))
        for suffix, data in images.TYPES.items():
            self.put(f"type.{suffix}", data)
        self.server = launch(self.site.folder)
        self.folder = folder

    def put(self, name, data, after=0):
        self.site.put(name, data, after)
        self.versions[name] = data

    def run(self):
        self.relay = Relay(self.server.port)
        self.relay.cuts = {
            "/cut.png": lambda: None, "/replaced.png": self.replace}
        try:
            with Agent(self.folder / "agent") as self.agent:
                self.changing = [f"{name}.png" for name in CHANGES]
                self.agent.drop("changing.plist", map(self.relay.url, self.changing))
                self.agent.drop("types.plist", [self.relay.url(f"type.{suffix}") for suffix in images.TYPES])
                self.first()
                self.agent.drop("cut.plist", map(self.relay.url, ["cut.png", "replaced.png"]))
                return {**self.types(), **self.ranges(), **self.changes()}
        finally:
            self.relay.close()
            self.server.stop()

    def replace(self):
        self.put("replaced.png", images.picture("replaced 2", side=310), 3 * DAY)
        time.sleep(SETTLED)

    def is_current(self, name):
        return self.agent.image(self.relay.url(name)) == self.versions[name]

    def first(self):
        self.agent.run("sync", "--wait")
        missing = [name for name in self.changing if not self.is_current(name)]
        if missing:
            why = self.agent.error(self.relay.url(missing[0]))
            seen = self.relay.since(0, missing[0])
            raise Stuck(f"{missing[0]} is not downloaded: {why}, {seen[-1:] or 'no request'}")

    def types(self):
        found = {}
        for suffix in images.TYPES:
            seen = self.relay.since(0, f"type.{suffix}")
            found[suffix] = seen[0].given.get("content-type", "none").split(";")[0] if seen else "no request"
        return {"types": found}

    def ranges(self):
        """How the two downloads end that were cut, the second one after its file was replaced."""
        found = {}
        for name in ("cut", "replaced"):
            try:
                wait_until(lambda: self.is_current(f"{name}.png"), name, limit=20)
                word = ""
            except Stuck:
                word = f", {self.agent.error(self.relay.url(f'{name}.png')) or 'old image'}"
            later = self.relay.since(0, f"{name}.png")[1:]
            asked = [one for one in later if "range" in one.asked]
            found[name] = f"{asked[0].status}{word}" if asked else f"not asked{word}"
        return found

    def changes(self):
        """What a refresh notices; what it missed, a full refresh, and one after the server started again."""
        sample = self.relay.since(0, "same.png")[0]
        found = {"validators": validators(sample.given), "cache-control": sample.given.get("cache-control")}
        time.sleep(SETTLED)
        for name, change in CHANGES.items():
            if change:
                first, shift, is_resized = change
                self.put(f"{name}.png", images.picture(f"{name} 2", 28 if is_resized else 24), first + shift)
        left = list(CHANGES)
        for stage in ("refresh", "full", "later", "restart"):
            if not left:
                break
            if stage == "later":
                time.sleep(LATER)
            if stage == "restart":
                self.server.restart()
            options = [] if stage == "refresh" else ["--full"]
            seen = self.agent.refresh(self.relay, [f"{name}.png" for name in left], *options)
            for name in list(left):
                url = self.relay.url(f"{name}.png")
                known = found.setdefault(name, {"noticed": None, "answers": [], "errors": {}})
                if stage == "refresh":
                    known["answers"] = [one.status for one in seen[f"{name}.png"]]
                    known["conditional"] = seen[f"{name}.png"][0].is_conditional
                if self.is_current(f"{name}.png"):
                    known["noticed"] = stage
                    left.remove(name)
                elif error := self.agent.error(url):
                    known["errors"][stage] = error
        return found
