# SPDX-License-Identifier: Apache-2.0
"""The installed package for hours: what it takes at the end is what it took after the beginning."""
import collections
import contextlib
import csv
import itertools
import pathlib
import random
import re
import threading
import time

import leasing
from case import CACHE, LISTS, MachineTest
from commands import until

READERS = 20
# Icons that a list may have over time.
RANGE = 100_000
HOUR = 3600
# By how much the agent's clock is wrong, one after the other, and what says so. Responses are fresh for a day.
OFFSETS = (26 * HOUR, 0, -30 * 24 * HOUR, 0)
CLOCK = "/etc/syncagent/clock"
# What one may grow to, of what it was after the beginning, and what is noise: MiB, descriptors, switches of context in
# ten seconds, files, and KiB of the database.
GROWTH = 1.1
NOISE = {"memory": 4, "descriptors": 2, "switches": 20, "files": 20, "database": 512}


class Soak(MachineTest):
    """`run` says how long, how many icons there are, which readers read, and whether the clock jumps."""
    minutes = 0
    icons = 0
    readers = ()
    sets_clock = False
    # The file for a line of values every ten seconds, for a plot.
    record = None

    def setUp(self):
        super().setUp()
        self.expect_in_journal("icon not downloaded code=[a-z-]+ .*http://icons.example.com/", "code=disk-full")
        self.machine.run("systemctl", "stop", "syncagent")
        # A disk that can be filled: each image takes a page, each URL a link, and some are on their way out.
        room = 64 + self.icons * 16 // 1024
        self.machine.run("mount", "-t", "tmpfs", "-o", f"size={room}m,mode=755", "cache", CACHE)
        self.configure('[cache]\ngrace = "5s"\n[fetch]\nretryMax = "5s"\n[lists]\nmaxEntries = 200000\n')
        if self.sets_clock:
            self.own_clock()
        self.machine.run("systemctl", "start", "syncagent")
        # A thousand icons each, at most.
        self.lists = max(10, self.icons // 1000)
        self.first = [0] * self.lists
        self.offset = 0
        self.happened = ""
        self.chosen = random.Random(1)
        self.offsets = itertools.cycle(OFFSETS)

    def own_clock(self):
        """Gives the agent a wall clock of its own, by a library: a container has none, and this machine's is not ours."""
        library = next(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
        self.machine.write("/usr/local/lib/libfaketime.so", library.read_bytes())
        self.machine.write(CLOCK, "+0\n")
        command = re.search(r"(?m)^ExecStart=(.*)$", self.machine.run("systemctl", "cat", "syncagent").out)[1]
        # What processes share is made by the first one that has the library, which must not be the agent.
        self.machine.write("/run/systemd/system/syncagent.service.d/clock.conf", f"""[Service]
            Environment=LD_PRELOAD=/usr/local/lib/libfaketime.so FAKETIME_TIMESTAMP_FILE={CLOCK}
            Environment=FAKETIME_CACHE_DURATION=1 FAKETIME_DONT_FAKE_MONOTONIC=1 DONT_FAKE_MONOTONIC=1 NO_FAKE_STAT=1
            ExecStart=
            ExecStart=/usr/bin/env {command}
            """)
        self.machine.run("systemctl", "daemon-reload")

    def tearDown(self):
        self.machine.run("systemctl", "stop", "syncagent")
        self.machine.run("umount", "--lazy", CACHE)
        super().tearDown()

    def numbers(self, index):
        """The icons of a list: each list has a range of its own, of which it shows a part."""
        each = self.icons // self.lists
        start = index * RANGE + self.first[index] % (RANGE - each)
        return range(start, start + each)

    def fill(self, index, new=0):
        """Writes a list, with so many icons in the place of others."""
        self.first[index] += new
        self.drop(f"apps{index}", self.numbers(index))

    def all_ready(self, limit=900):
        expected = self.icons // self.lists * self.lists

        def is_ready():
            status = self.status()
            counts = status["icons"]
            is_done = status["inSync"] and counts["ready"] == expected and counts["retired"] == 0
            return is_done and not status["problems"]
        until(lambda: f"all {expected} icons, not {self.status()['icons']}, {self.status()['problems']}", is_ready, limit,
              pause=0.3)

    def memory(self, pid):
        """MiB."""
        return int(re.search(r"VmRSS:\s*(\d+)", self.machine.path(f"/proc/{pid}/status").read_text())[1]) // 1024

    def descriptors(self, pid):
        return sum(1 for _ in self.machine.path(f"/proc/{pid}/fd").iterdir())

    def taken(self):
        """What the agent takes, once it has nothing to do, always after the same: lists changed, and the clock is right."""
        pid = self.pid()
        self.set_clock(0)
        self.all_ready()

        def switches():
            text = self.machine.run("sh", "-c", f"cat /proc/{pid}/task/*/status").out
            counts = re.findall(r"(?ms)^Pid:\s*(\d+)$.*?^voluntary_ctxt_switches:\s*(\d+)", text)
            return {thread: int(count) for thread, count in counts}

        def wait(seconds):
            end = time.monotonic() + seconds
            until(f"{seconds} seconds", lambda: time.monotonic() > end)

        # What the last disturbance left to do is done by then, whichever it was: retired documents go after the grace.
        wait(20)
        before = switches()
        wait(10)
        after = switches()
        # Those of threads that have ended meanwhile are not known.
        switched = sum(count - before.get(thread, 0) for thread, count in after.items())
        files = self.machine.run("sh", "-c", f"find {CACHE} /var/lib/syncagent | wc -l", limit=120).out
        # The events have a bound of their own, four files of 2 MiB.
        database = self.machine.run("sh", "-c", "du -ck /var/lib/syncagent/state.sqlite* | tail -n 1").out.split()[0]
        return {"memory": self.memory(pid), "descriptors": self.descriptors(pid), "switches": switched,
                "files": int(files), "database": int(database)}

    @contextlib.contextmanager
    def recording(self, pid, readings):
        """A line in the record every ten seconds."""
        is_over = threading.Event()

        def write():
            begun = time.monotonic()
            with open(self.record, "w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(["seconds", "memory", "descriptors", "reads", "missed", "clock", "happened"])
                while True:
                    writer.writerow([
                        round(time.monotonic() - begun, 1), self.memory(pid), self.descriptors(pid),
                        sum(reading.reads for reading in readings), sum(len(reading.faults) for reading in readings),
                        self.offset, self.happened])
                    file.flush()
                    if is_over.wait(10):
                        break

        thread = threading.Thread(target=write, daemon=True)
        if self.record:
            thread.start()
        try:
            yield
        finally:
            is_over.set()
            if self.record:
                thread.join()

    # What happens.

    def churn(self):
        for index in self.chosen.sample(range(self.lists), self.lists * 3 // 10):
            self.fill(index, new=self.icons // self.lists // 4)

    def lose_origin(self):
        self.machine.origin.stop()
        self.fill(0, new=10)
        until("a failure", lambda: self.status()["icons"]["failed"] > 0, 300)
        self.origin = self.machine.serve_icons()

    def fill_disk(self):
        filler = self.cache / "filler"
        with open(filler, "wb", buffering=0) as file, contextlib.suppress(OSError):
            while file.write(bytes(1 << 16)):
                pass
        self.fill(1, new=10)
        until("disk-full", lambda: "disk-full" in [problem["code"] for problem in self.status()["problems"]], 300)
        filler.unlink()

    def set_clock(self, offset=None):
        self.offset = next(self.offsets) if offset is None else offset
        if self.sets_clock:
            self.machine.write(CLOCK, f"{self.offset:+}\n")
        self.churn()

    def test_it_takes_no_more_at_the_end(self):
        for index in range(self.lists):
            self.fill(index)
        self.all_ready()
        pid = self.pid()
        begun, rounds, early = time.monotonic(), 0, None
        beginning = min(600, self.minutes * 10)
        events = [self.churn, self.lose_origin, self.churn, self.fill_disk]
        if self.sets_clock:
            events += [self.churn, self.set_clock]
        names = [f"apps{index}.plist" for index in range(self.lists)]
        with contextlib.ExitStack() as stack:
            readings = [
                stack.enter_context(leasing.LeasingReader(self.readers[number % len(self.readers)], self.cache, names))
                for number in range(READERS)]
            stack.enter_context(self.recording(pid, readings))
            while (passed := time.monotonic() - begun) < self.minutes * 60:
                event = events[rounds % len(events)]
                self.happened = event.__name__
                event()
                self.machine.run("systemctl", "reload", "syncagent")
                self.all_ready()
                rounds += 1
                self.assertEqual([fault for reading in readings for fault in reading.faults], [])
                if rounds % 20 == 0 or early is None and passed > beginning:
                    self.happened = "rest"
                    taken = self.taken()
                    print(f"  {passed / 60:5.1f} min, {rounds} rounds: {taken}", flush=True)
                    early = early or (taken if passed > beginning else None)
            self.happened = "rest"
            late = self.taken()
        self.ready()
        counts = collections.Counter()
        for reading in readings:
            counts[reading.name] += reading.reads
        print(f"  {rounds} rounds; images read, none missed: {dict(counts)}; {late}")
        self.assertEqual(self.pid(), pid)
        for name, value in late.items():
            with self.subTest(name):
                self.assertLessEqual(value, early[name] * GROWTH + NOISE[name])
