# SPDX-License-Identifier: Apache-2.0
"""The installed package for hours: what it takes at the end is what it took after the beginning."""
import contextlib
import random
import re
import time

import icons
from case import CACHE, LISTS, MachineTest
from commands import until

LISTS_COUNT = 10
# What one may grow to, of what it was in the first sixth of the time, and what is noise: MiB, descriptors, switches of
# context in ten seconds, files, and KiB of the database.
GROWTH = 1.1
NOISE = {"memory": 4, "descriptors": 2, "switches": 20, "files": 20, "database": 512}


class Soak(MachineTest):
    """`run --soak MINUTES` says how long, and `--icons` how many icons there are."""
    minutes = 0
    icons = 0

    def setUp(self):
        super().setUp()
        self.expect_in_journal(
            "disk", "space", "minFree", "[Ff]ailed", "Cannot", "refused", "timed? ?out", "[Nn]othing was evicted",
            "eviction")
        self.machine.run("systemctl", "stop", "syncagent")
        # A disk that can be filled: each image takes a page, each URL a link, and some are on their way out.
        room = 64 + self.icons * 16 // 1024
        self.machine.run("mount", "-t", "tmpfs", "-o", f"size={room}m,mode=755", "cache", CACHE)
        self.configure('[cache]\ngrace = "5s"\n[fetch]\nretryMax = "5s"\n[lists]\nmaxEntries = 200000\n')
        self.machine.run("systemctl", "start", "syncagent")
        self.first = [0] * LISTS_COUNT

    def tearDown(self):
        self.machine.run("systemctl", "stop", "syncagent")
        self.machine.run("umount", "--lazy", CACHE)
        super().tearDown()

    def numbers(self, index):
        """The icons of a list: each list has a range of its own, of which it shows a part."""
        each = self.icons // LISTS_COUNT
        start = index * 1_000_000 + self.first[index]
        return range(start, start + each)

    def fill(self, index):
        self.drop(f"apps{index}", self.numbers(index))

    def all_ready(self, limit=300):
        expected = self.icons // LISTS_COUNT * LISTS_COUNT

        def is_ready():
            status = self.status()
            counts = status["icons"]
            return counts["ready"] == expected and counts["retired"] == 0 and not status["problems"]
        until(lambda: f"all {expected} icons, not {self.status()['icons']}, {self.status()['problems']}", is_ready, limit)

    def taken(self):
        """What the agent takes, once it has nothing to do."""
        pid = self.pid()

        def switches():
            text = self.machine.run("sh", "-c", f"cat /proc/{pid}/task/*/status").out
            counts = re.findall(r"(?ms)^Pid:\s*(\d+)$.*?^voluntary_ctxt_switches:\s*(\d+)", text)
            return {thread: int(count) for thread, count in counts}, int(re.search(r"VmRSS:\s*(\d+)", text)[1]) // 1024

        def wait(seconds):
            end = time.monotonic() + seconds
            until(f"{seconds} seconds", lambda: time.monotonic() > end)

        # What the last disturbance left to do is done by then, whichever it was: retired documents go after the grace.
        wait(20)
        before, _ = switches()
        wait(10)
        after, memory = switches()
        # Those of threads that have ended meanwhile are not known.
        switched = sum(count - before.get(thread, 0) for thread, count in after.items())
        listing = self.machine.run("ls", f"/proc/{pid}/fd").out.split()
        files = self.machine.run("sh", "-c", f"find {CACHE} /var/lib/syncagent | wc -l", limit=120).out
        # The events have a bound of their own, four files of 2 MiB.
        database = self.machine.run("sh", "-c", "du -ck /var/lib/syncagent/state.sqlite* | tail -n 1").out.split()[0]
        return {"memory": memory, "descriptors": len(listing), "switches": switched, "files": int(files),
                "database": int(database)}

    # What happens.

    def churn(self, chosen):
        for index in chosen.sample(range(LISTS_COUNT), 3):
            self.first[index] += self.icons // LISTS_COUNT // 4
            self.fill(index)

    def lose_origin(self):
        self.machine.origin.stop()
        self.first[0] += 10
        self.fill(0)
        until("a failure", lambda: self.status()["icons"]["failed"] > 0, 120)
        self.origin = self.machine.serve_icons()

    def fill_disk(self):
        filler = self.cache / "filler"
        with open(filler, "wb", buffering=0) as file, contextlib.suppress(OSError):
            while file.write(bytes(1 << 16)):
                pass
        self.first[1] += 10
        self.fill(1)
        until("disk-full", lambda: "disk-full" in [problem["code"] for problem in self.status()["problems"]], 60)
        filler.unlink()

    def test_it_takes_no_more_at_the_end(self):
        chosen = random.Random(1)
        for index in range(LISTS_COUNT):
            self.fill(index)
        self.all_ready(600)
        pid = self.pid()
        begun, rounds, early = time.monotonic(), 0, None
        events = (lambda: self.churn(chosen), self.lose_origin, self.fill_disk)
        with contextlib.ExitStack() as stack:
            readings = [stack.enter_context(self.reading()) for _ in range(3)]
            while (passed := time.monotonic() - begun) < self.minutes * 60:
                events[rounds % len(events)]()
                self.machine.run("systemctl", "reload", "syncagent")
                self.all_ready()
                rounds += 1
                if rounds % 10 == 0 or early is None and passed > self.minutes * 10:
                    taken = self.taken()
                    print(f"  {passed / 60:5.1f} min, {rounds} rounds: {taken}", flush=True)
                    early = early or (taken if passed > self.minutes * 10 else None)
        late = self.taken()
        self.ready()
        print(f"  {rounds} rounds, {sum(reading.reads for reading in readings)} reads, none missed: {late}")
        self.assertEqual(self.pid(), pid)
        for name, value in late.items():
            with self.subTest(name):
                self.assertLessEqual(value, early[name] * GROWTH + NOISE[name])
