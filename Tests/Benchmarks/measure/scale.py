# SPDX-License-Identifier: Apache-2.0
"""What a start, a change, a command and the memory cost with more and more icons, in lists of 100."""
import os
import statistics
import subprocess
import time

from .agent import Agent, Folders
from .fills import SLOT_SETTINGS
from .report import part

ENTRIES = 100
SETTLE = 0.1
STARTS = 3
# An agent gives back what it does not need any more when it has been at rest for a second.
REST = 2.5
# How many bytes of manifests the agent writes a second in the long run; what changes faster waits.
GROWTH = 1 << 20


class World(Folders):
    """Lists of 100 icons each, of which the last one is another one in each version."""

    def __init__(self, bench, icons):
        super().__init__(bench.program, bench.fresh("scale"), SLOT_SETTINGS)
        self.origin, self.icons, self.lists = bench.nginx.plain, icons, icons // ENTRIES
        for number in range(self.lists):
            self.drop_version(number)

    def urls(self, number, version=None):
        urls = [f"{self.origin}/tiny/{number * ENTRIES + entry}.png" for entry in range(ENTRIES)]
        if version is not None:
            urls[-1] = f"{self.origin}/more/{version}.png"
        return urls

    def drop_version(self, number, version=None):
        self.drop(f"{number}.plist", self.urls(number, version))

    def end_grace(self):
        """Leaves one generation on disk, as ten minutes do."""
        environment = dict(self.environment, SYNCAGENT_CACHE_GRACE="1s")
        subprocess.run(self.command("run", "--once"), env=environment, check=True, stdout=subprocess.DEVNULL)

    def pause(self):
        """Waits for as long as a manifest takes to be paid for, so that no change waits for the one before."""
        time.sleep(0.05 + os.path.getsize(self.manifest) / GROWTH)

    def is_published(self, number, version):
        _, document = self.published(f"{number}.plist")
        last = document["apps"][-1]
        return last["status"] == "ready" and last["icon"] == self.urls(number, version)[-1]

    def time_of_change(self, number, version):
        """The seconds from the drop of a changed list to the manifest with its new icon."""
        begun = time.monotonic()
        self.drop_version(number, version)
        return self.wait_for_manifest(lambda: self.is_published(number, version), begun)


def measure(bench):
    if bench.nginx is None:
        bench.report.skip("scale", "starts and changes", "nginx or openssl is not installed")
        return
    for icons in bench.sizes:
        bench.report.section(f"{icons:,} icons in {icons // ENTRIES:,} lists")
        world = World(bench, icons)
        with Agent(world) as agent:
            agent.wait_until_in_sync(icons, every=0.2)
            bench.report.add("scale", "first run, to in sync", "s", time.monotonic() - agent.begun, icons=icons)
            time.sleep(REST)
            resident, peak = agent.memory()
            note = f"{peak:.0f} MiB at most"
            bench.report.add("scale", "memory after the first run", "MiB", resident, note=note, icons=icons)
        with_all_there(bench, world, icons)


def with_all_there(bench, world, icons):
    # What the first run superseded would be read at each start, for as long as its grace lasts.
    world.end_grace()
    ready, synced, resident = [], [], []
    for _ in range(STARTS):
        # A start flushes the file system: not what an earlier run, or somebody else, left to be written.
        os.sync()
        with Agent(world) as agent:
            times = agent.start(icons)
            ready.append(times[0])
            synced.append(times[1])
            time.sleep(REST)
            resident.append(agent.memory()[0])
    report = bench.report
    report.add("scale", "start to ready", "s", statistics.median(ready), runs=ready, icons=icons)
    report.add("scale", "start to in sync", "s", statistics.median(synced), runs=synced, icons=icons)
    report.add("scale", "memory after a start", "MiB", statistics.median(resident), runs=resident, icons=icons)
    with Agent(world) as agent:
        agent.wait_until_in_sync(icons, every=0.1)
        times = []
        for number in range(bench.changes):
            world.pause()
            version = bench.next_image()
            times.append(1000 * (world.time_of_change(number * 7 % world.lists, version) - SETTLE))
        note = f"{len(times)} changes, spaced so that none waits for the one before; lists.settle is not in it"
        report.add("scale", "change to manifest, p50", "ms", part(times, 0.5), note=note, runs=times, icons=icons)
        report.add("scale", "change to manifest, p99", "ms", part(times, 0.99), icons=icons)
        report.add("scale", "memory after the changes", "MiB", agent.memory()[0], icons=icons)
        commands(report, world, icons)


def commands(report, world, icons):
    """Programs that are started, ask, and end."""
    calls = {
        "--version": [world.program, "--version"],
        "path URL": world.command("path", world.urls(0)[0]),
        "status": world.command("status"),
        "list LIST": world.command("list", f"{world.lists - 1}.plist"),
    }
    for name, command in calls.items():
        times = []
        for _ in range(20):
            begun = time.monotonic()
            subprocess.run(command, env=world.environment, check=True, stdout=subprocess.DEVNULL)
            times.append(1000 * (time.monotonic() - begun))
        report.add("scale", f"syncagent {name}", "ms", statistics.median(times), runs=times, icons=icons)
