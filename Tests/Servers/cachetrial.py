# SPDX-License-Identifier: Apache-2.0
"""What one cache between the agent and an origin does with the agent's requests."""
import time
import urllib.request

from agent import Agent, Stuck, wait_until
from origin import FILES, Origin
from relay import Relay

# What a response may have that the origin's does not.
ADDED = ("age", "via", "x-cache", "x-cache-status", "x-varnish", "cache-status", "x-cache-lookup")


class CacheTrial:
    """An origin, a cache, a relay before it, and an agent."""

    def __init__(self, launch, folder):
        self.origin = Origin()
        self.folder = folder
        self.server = launch(None, self.origin.port)

    def run(self):
        self.relay = Relay(self.server.port)
        self.relay.cuts = {"/cut.png": lambda: None, "/cut-unsaid.png": lambda: None}
        try:
            with Agent(self.folder / "agent") as self.agent:
                self.agent.drop("icons.plist", [self.relay.url(f"{name}.png") for name in FILES])
                self.agent.run("sync", "--wait")
                for name in FILES:
                    if "cut" not in name and name != "late" and not self.is_current(name):
                        seen = self.relay.since(0, f"{name}.png")
                        raise Stuck(f"{name} is not downloaded: {seen[-1:] or 'no request'}")
                return {**self.ranges(), **self.refreshes(), **self.late(), **self.failures()}
        finally:
            self.relay.close()
            self.server.stop()
            if self.origin.failing is not None:
                self.origin.stop()

    def is_current(self, name):
        return self.agent.image(self.relay.url(f"{name}.png")) == self.origin.bodies[name]

    def ranges(self):
        """How two interrupted downloads continue, of an origin that takes ranges and of one that does not."""
        found = {}
        for name in ("cut", "cut-unsaid"):
            try:
                wait_until(lambda: self.is_current(name), name, limit=20)
                word = ""
            except Stuck:
                word = f", {self.agent.error(self.relay.url(f'{name}.png'))}"
            asked = [one for one in self.relay.since(0, f"{name}.png")[1:] if "range" in one.asked]
            found[name] = f"{asked[0].status}{word}" if asked else f"not asked{word}"
        return found

    def refreshes(self):
        """Refreshes of copies that are fresh or expired in the cache, unchanged or changed at the origin."""
        time.sleep(2)
        changed = ["heuristic", "fresh", "ask", "expired"]
        self.origin.change(*changed)
        names = ["same", "tag", "date", "expired-same", "expired-tag", *changed]
        found, at_origin = {}, self.origin.mark()
        seen = self.agent.refresh(self.relay, [f"{name}.png" for name in names])
        for name in names:
            reached = self.origin.since(at_origin, name)
            exchange = seen[f"{name}.png"][0]
            found[name] = {
                "status": exchange.status, "origin": len(reached), "current": self.is_current(name),
                "revalidated": any("if-none-match" in one or "if-modified-since" in one for one in reached)}
        # A 304 has fewer fields than a 200.
        given = {**self.relay.since(0, "same.png")[0].given, **seen["same.png"][0].given}
        found["adds"] = [name for name in ADDED if name in given]
        at_origin = self.origin.mark()
        seen = self.agent.refresh(self.relay, ["fresh.png", "heuristic.png"], "--full")
        for name in ("fresh", "heuristic"):
            found[f"{name}, full"] = {
                "status": seen[f"{name}.png"][0].status, "origin": len(self.origin.since(at_origin, name)),
                "current": self.is_current(name)}
        # What other agents get from the cache after that.
        with urllib.request.urlopen(f"http://127.0.0.1:{self.server.port}/fresh.png") as response:
            found["others"] = response.read() == self.origin.bodies["fresh"]
        self.agent.refresh(self.relay, ["fresh.png", "expired.png"])
        found["fresh, then"], found["expired, then"] = self.is_current("fresh"), self.is_current("expired")
        return found

    def late(self):
        """A file that was missing."""
        self.origin.missing.clear()
        at_origin, url = self.origin.mark(), self.relay.url("late.png")
        self.agent.run("retry", url)
        self.agent.run("sync", "--wait")
        return {"late": self.is_current("late"), "late, origin": len(self.origin.since(at_origin, "late"))}

    def failures(self):
        """An origin that answers 500, and one that cannot be reached, for copies that are expired."""
        found = {}
        def twice(name):
            """The answers to two refreshes: some caches answer the first one while they ask the origin."""
            statuses = []
            for _ in range(2):
                seen = self.agent.refresh(self.relay, [f"{name}.png"])[f"{name}.png"]
                # A proxy may end a connection without an answer, so that its client tries again.
                statuses.append(next((one.status for one in seen if one.status), None))
                time.sleep(1)
            return statuses

        self.origin.failing.add("fails")
        found["fails"] = twice("fails")
        self.origin.stop()
        found["down"] = twice("down")
        return found
