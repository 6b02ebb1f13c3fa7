# SPDX-License-Identifier: Apache-2.0
"""Lists are published in a loop while readers get them through every engine: nothing is missing, wrong or late."""
import json
import pathlib
import random
import subprocess
import sys
import time

from case import PROXIES, FleetTest
from commands import die_with_parent, until
from engines import MANIFEST_AGE, Mirror, NginxStatic, SeaweedFS
from servers import Origin

READING = pathlib.Path(__file__).with_name("reading.py")
# How often a reader looks, in seconds, and how late it may be beyond that and the age: for two busy processors.
POLL, PATIENCE = 2, 5


class Readers:
    """Readers of an engine, in a process of their own."""

    def __init__(self, engine, seconds, count):
        self.name = type(engine).__name__
        self.process = subprocess.Popen(
            [sys.executable, READING, engine.url, str(seconds), str(count), str(POLL)], stdout=subprocess.PIPE,
            preexec_fn=die_with_parent)

    def report(self):
        return json.loads(self.process.communicate(timeout=120)[0])


def lateness(polls, times, since):
    """How long the readers went on to see an older generation, at most, after a newer one had been published."""
    published = sorted((at, generation) for generation, at in times.items())
    latest = 0
    for at, seen in polls:
        newer = [moment for moment, generation in published if generation > seen and moment <= at]
        if newer and at > since:
            latest = max(latest, at - min(newer))
    return latest


class Publishing(FleetTest):
    """A seeder whose lists change exports to a folder and a bucket. Readers and agents get all through all engines."""

    def test_nothing_is_missing_or_late_while_lists_change(self):
        seconds = self.sizes.publishing
        # Nobody waits for a minute in the quick form.
        age = 2 if self.sizes.quick else MANIFEST_AGE
        tree = self.folder / "tree"
        tree.mkdir(mode=0o755)
        self.origin = self.serve(Origin())
        self.seeder = self.agent("seeder").start()
        static = self.start(NginxStatic, tree, age)
        engines = [static] + [self.start(kind, static.port) for kind in PROXIES]
        targets = [Target((tree,), None)]
        target = dict.fromkeys(engines, targets[0])
        if not Mirror.missing():
            mirror = self.start(Mirror, tree, age)
            engines.append(mirror)
            target[mirror] = Copy(mirror.fetch)
            targets.append(target[mirror])
        if not SeaweedFS.missing():
            bucket = self.start(SeaweedFS)
            engines.append(bucket)
            target[bucket] = Target(("--rclone", bucket.remote), bucket.variables())
            targets.append(target[bucket])
        # Each engine has so many agents, and some readers that check what comes from it before any agent does.
        agents, strict = (1, 2) if self.sizes.quick else (self.sizes.agents, 8)
        self.agents = {
            self.agent(f"{type(engine).__name__}-{number}", [engine.url], asks_origins=False): engine
            for engine in engines for number in range(agents)}
        self.dropped = {}
        chosen = random.Random(1)
        lists = self.lists(chosen)
        self.publish(next(lists), targets)
        for agent in self.agents:
            agent.start()
        start = time.time()
        readers = {engine: Readers(engine, seconds, strict) for engine in engines}
        for one in readers.values():
            self.addCleanup(one.process.kill)
        late = dict.fromkeys(engines, 0)
        while time.time() < start + seconds:
            self.publish(next(lists), targets)
            for agent, engine in self.agents.items():
                late[engine] = max(late[engine], self.lateness(agent, target[engine]))
            time.sleep(chosen.uniform(0, 0.5))
        for engine, one in readers.items():
            with self.subTest(one.name):
                report = one.report()
                behind = lateness(report["polls"], target[engine].times, start)
                self.note(f"{one.name}: {len(target[engine].times)} exports, each manifest for {age} s; "
                          f"{agents} agents, at most {late[engine]:.1f} s behind; {strict} readers, "
                          f"{report['requests']} requests, {len(report['faults'])} faults, "
                          f"at most {behind:.1f} s behind")
                self.assertEqual(report["faults"][:10], [])
                self.assertLess(behind, age + POLL + PATIENCE)
                self.assertLess(late[engine], age + POLL + PATIENCE)
        for agent in self.agents:
            agent.await_ready(self.entries, age + 30)
            self.assertEqual(agent.command("verify", check=False).code, 0)
        self.assertEqual(set(self.origin.icons().values()), {1})

    def publish(self, lists, targets):
        """Gives everybody these lists, and exports as soon as the seeder has their icons."""
        changed = {name: numbers for name, numbers in lists.items() if self.dropped.get(name) != numbers}
        self.dropped = lists
        for name, numbers in changed.items():
            urls = [self.origin.address(number) for number in numbers]
            for agent in (self.seeder, *self.agents):
                agent.drop(name, urls)
        self.entries = sum(map(len, lists.values()))
        until("the icons of the seeder", lambda: self.seeder.holds(lists), 60)
        for target in targets:
            generation = self.seeder.manifest()["generation"]
            target.export(self.seeder)
            target.note(generation, {number for numbers in lists.values() for number in numbers})

    def lateness(self, agent, target):
        """For how long the agent could have had the icon that it misses for longest."""
        now = time.time()
        return max([now - target.icons[number] for number in agent.pending() if number in target.icons], default=0)

    def lists(self, chosen):
        """Lists that lose some icons and get some that were never there before, again and again."""
        newest = 100
        lists = {f"list-{number}": list(range(number * 30, number * 30 + 30)) for number in range(3)}
        while True:
            yield lists
            name = chosen.choice(sorted(lists))
            added = range(newest, newest + chosen.randint(1, 5))
            newest += len(added)
            lists = {**lists, name: lists[name][len(added):] + list(added)}


class Target:
    """Where `export` writes; and since when each generation, and each icon, is there."""

    def __init__(self, arguments, environment):
        self.arguments = arguments
        self.environment = environment
        self.times = {}
        self.icons = {}

    def export(self, seeder):
        seeder.export(*self.arguments, "--keep", "3m", env=self.environment)

    def note(self, generation, numbers):
        now = time.time()
        self.times.setdefault(generation, now)
        for number in numbers:
            self.icons.setdefault(number, now)


class Copy(Target):
    """What is brought by other means, once the export is there."""

    def __init__(self, fetch):
        super().__init__((), None)
        self.fetch = fetch

    def export(self, _):
        self.fetch()
