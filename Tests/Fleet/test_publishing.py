# SPDX-License-Identifier: Apache-2.0
"""Lists are published in a loop while readers get them through every engine: nothing is missing, wrong or late."""
import json
import pathlib
import random
import subprocess
import sys
import time

from case import PROXIES, FleetTest
from commands import die_with_parent
from engines import MANIFEST_AGE, NginxStatic, SeaweedFS
from trees import BucketTree, Tree

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
    def test_readers_find_everything_in_time_while_lists_change(self):
        seconds = self.sizes.publishing
        # Nobody waits for a minute in the quick form.
        age = 2 if self.sizes.quick else MANIFEST_AGE
        tree = Tree(self.folder / "tree")
        chosen = random.Random(1)
        publish = self.lists(chosen)
        tree.publish(next(publish))
        static = self.start(NginxStatic, tree.folder, age)
        engines = [(static, tree)] + [(self.start(kind, static.port), tree) for kind in PROXIES]
        trees = [tree]
        if not SeaweedFS.missing():
            bucket = self.start(SeaweedFS)
            trees.append(BucketTree(self.folder / "copy", bucket, age))
            trees[-1].publish(next(publish))
            engines.append((bucket, trees[-1]))
        start = time.time()
        readers = [(Readers(engine, seconds, self.sizes.agents), tree) for engine, tree in engines]
        for one, _ in readers:
            self.addCleanup(one.process.kill)
        while time.time() < start + seconds:
            lists = next(publish)
            for tree in trees:
                tree.publish(lists)
            time.sleep(chosen.uniform(0, 0.5))
        for one, tree in readers:
            with self.subTest(one.name):
                report = one.report()
                late = lateness(report["polls"], tree.times, start)
                self.note(f"{one.name}: {self.sizes.agents} readers, {tree.generation} generations, "
                          f"{len(report['polls'])} manifests, {report['requests']} requests, "
                          f"{len(report['faults'])} faults, at most {late:.1f} s late (manifest for {age} s)")
                self.assertEqual(report["faults"][:10], [])
                self.assertLess(late, age + POLL + PATIENCE)

    def lists(self, chosen):
        """Lists that lose some icons and get some that were never there before, again and again."""
        newest = 100
        lists = {f"list-{number}.plist": list(range(number * 30, number * 30 + 30)) for number in range(3)}
        while True:
            yield lists
            name = chosen.choice(sorted(lists))
            added = range(newest, newest + chosen.randint(1, 5))
            newest += len(added)
            lists = {**lists, name: lists[name][len(added):] + list(added)}
