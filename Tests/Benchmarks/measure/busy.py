# SPDX-License-Identifier: Apache-2.0
"""What the agent does beside many downloads, with many clients, and with nothing to do."""
import asyncio
import multiprocessing
import os
import statistics
import subprocess
import time

from .agent import Agent, Client, Folders
from .fills import SLOT_SETTINGS
from .origins import SlowOrigin
from .report import part

CLIENTS = 64


def measure(bench):
    if bench.nginx is None:
        bench.report.skip("busy", "first icons, clients, idle", "nginx or openssl is not installed")
        return
    first_icons(bench)
    clients(bench)
    idle(bench)


def first_icons(bench, icons=50_000):
    """One large list, and small ones that are dropped while it downloads."""
    report = bench.report
    report.section(f"While {icons:,} icons download")
    folders = Folders(bench.program, bench.fresh("first"), SLOT_SETTINGS)
    origin = bench.nginx.plain

    def is_ready(name, count):
        found = folders.published(name)
        return found is not None and found[0]["ready"] >= count

    with Agent(folders) as agent:
        agent.wait_until(lambda status: True)
        # What the first look at an empty folder publishes is over.
        folders.drop("one.plist", [f"{origin}/more/{bench.next_image()}.png"])
        folders.wait_for_manifest(lambda: is_ready("one.plist", 1))
        begun = time.monotonic()
        folders.drop("large.plist", [f"{origin}/tiny/{number}.png" for number in range(icons)])
        first = folders.wait_for_manifest(lambda: is_ready("large.plist", 1), begun)
        report.add("busy", "drop to the first published icons", "s", first)
        times = []
        while not is_ready("large.plist", icons):
            name = f"small{len(times)}.plist"
            start = time.monotonic()
            folders.drop(name, [f"{origin}/more/{bench.next_image()}.png" for _ in range(5)])
            times.append(folders.wait_for_manifest(lambda: is_ready(name, 5), start))
            time.sleep(0.2)
        # The last one may have had nothing beside it.
        times = times[:-1] or times
        note = f"{len(times)} drops"
        report.add("busy", "a list of 5 dropped meanwhile, p50", "s", part(times, 0.5), runs=times, note=note)
        report.add("busy", "the same, p99", "s", part(times, 0.99))
        report.add("busy", "all published", "s", time.monotonic() - begun)


def clients(bench, icons=20_000, slow=10_000):
    """Clients that ask for the status ten times a second, while downloads from slow servers are under way."""
    report = bench.report
    report.section(f"{CLIENTS} clients, with {icons:,} icons ready and {slow:,} from slow origins")
    settings = {"SYNCAGENT_FETCH_CONCURRENCY": "256", "SYNCAGENT_FETCH_PER_HOST": "32"}
    folders = Folders(bench.program, bench.fresh("clients"), settings)
    for number in range(icons // 1000):
        urls = [f"{bench.nginx.plain}/tiny/{number * 1000 + entry}.png" for entry in range(1000)]
        folders.drop(f"{number}.plist", urls)
    origin = SlowOrigin(1)
    try:
        with Agent(folders) as agent:
            agent.wait_until_in_sync(icons, every=0.2)
            for number in range(slow // 1000):
                hosts = [f"127.0.{number}.{host}:{origin.port}" for host in range(1, 101)]
                urls = [f"http://{hosts[entry % 100]}/{number}/{entry}.png" for entry in range(1000)]
                folders.drop(f"slow{number}.plist", urls)
            agent.wait_until(lambda status: status["icons"]["referenced"] >= icons + slow)
            others = [
                subprocess.Popen(folders.command(*command), env=folders.environment, stdout=subprocess.DEVNULL)
                for command in (["evict", "--dry-run"], ["sync", "--wait"], ["status", "--watch"])]
            askers = Askers(folders.socket, 0.1)
            time.sleep(bench.ask_seconds)
            answers = askers.end()
            left = Client(folders.socket).status()["downloads"]
            times = [1000 * answer for answer in answers]
            note = f"{len(times):,} answers; at the end {left['active']} active, {left['queued']:,} queued"
            report.add("clients", "status, p50", "ms", part(times, 0.5), note=note)
            report.add("clients", "status, p99", "ms", part(times, 0.99), note=f"{max(times):.0f} ms at most")
            begun = time.monotonic()
            folders.call("pause")
            report.add("clients", "syncagent pause", "ms", 1000 * (time.monotonic() - begun))
            for other in others:
                other.terminate()
                other.wait()
            begun = time.monotonic()
            agent.process.terminate()
            agent.process.wait()
            report.add("clients", "SIGTERM to the end", "ms", 1000 * (time.monotonic() - begun))
    finally:
        origin.end()


def asked_fill(bench, icons=10_000):
    """The same download while clients ask for the status: nobody; of another agent, which takes them the same time on the
    processors; of this one."""
    report = bench.report
    if bench.nginx is None:
        report.skip("asked", "a download while clients ask", "nginx or openssl is not installed")
        return
    report.section(f"{icons:,} icons download while {CLIENTS} clients ask for the status, medians of {bench.pairs} rounds")
    urls = [f"{bench.nginx.plain}/tiny/{number}.png" for number in range(icons)]
    paces = {"ten times a second": 0.1, "without a pause": 0}
    fills = {(pace, who): [] for pace in paces for who in ("nobody", "another", "this")}
    answers = {pace: [] for pace in paces}
    other = Folders(bench.program, bench.fresh("other"), SLOT_SETTINGS)
    with Agent(other) as idle_agent:
        idle_agent.wait_until(lambda status: True)
        for number in range(bench.pairs):
            for pace, who in list(fills) if number % 2 == 0 else reversed(list(fills)):
                folders = Folders(bench.program, bench.fresh("asked"), SLOT_SETTINGS)
                os.sync()
                with Agent(folders) as agent:
                    agent.wait_until(lambda status: True)
                    asked = {"another": other, "this": folders}.get(who)
                    askers = Askers(asked.socket, paces[pace]) if asked else None
                    begun = time.monotonic()
                    folders.drop("apps.plist", urls)
                    fills[pace, who].append(folders.wait_for_manifest(
                        lambda: (folders.published("apps.plist") or [{"ready": 0}])[0]["ready"] == icons, begun))
                    times = askers.end() if askers else []
                    if who == "this":
                        answers[pace] += [1000 * answer for answer in times]
    for pace in paces:
        values = {who: fills[pace, who] for who in ("nobody", "another", "this")}
        ratios = {
            f"with {who} asked": statistics.median(a / b for a, b in zip(values["this"], values[who]))
            for who in ("nobody", "another")}
        report.add("asked", f"{pace}: all published", "s", statistics.median(values["this"]), ratios=ratios, runs=values)
        note = f"{len(answers[pace]):,} answers, {max(answers[pace]):.0f} ms at most"
        report.add("asked", f"{pace}: status, p50", "ms", part(answers[pace], 0.5))
        report.add("asked", f"{pace}: status, p99", "ms", part(answers[pace], 0.99), note=note)


class Askers:
    """Clients that ask for the status until they are ended; they are one process, to take little of the processors."""

    def __init__(self, path, pause):
        self.ended, self.results = multiprocessing.Event(), multiprocessing.Queue()
        self.process = multiprocessing.Process(target=self._run, args=(path, pause))
        self.process.start()

    def end(self):
        """How long each answer took, in seconds."""
        self.ended.set()
        times = self.results.get()
        self.process.join()
        return times

    def _run(self, path, pause):
        asyncio.run(self._all(path, pause))

    async def _all(self, path, pause):
        self.times = []
        await asyncio.gather(*(self._ask(path, pause, pause * number / CLIENTS) for number in range(CLIENTS)))
        self.results.put(self.times)

    async def _ask(self, path, pause, start):
        reader, writer = await asyncio.open_unix_connection(path)
        await asyncio.sleep(start)
        while not self.ended.is_set():
            begun = time.monotonic()
            writer.write(b"GET /v1/status HTTP/1.1\r\nHost: agent\r\n\r\n")
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0]))
            self.times.append(time.monotonic() - begun)
            if pause:
                await asyncio.sleep(max(0, pause - (time.monotonic() - begun)))
        writer.close()


def idle(bench, lists=200):
    """Wake-ups are voluntary context switches of all threads, those of the helpers included."""
    report = bench.report
    seconds = bench.idle_seconds
    report.section(f"Idle with {lists} lists, {seconds:g} s, as for 60 s")
    folders = Folders(bench.program, bench.fresh("idle"), SLOT_SETTINGS)
    for number in range(lists):
        folders.drop(f"{number}.plist", [f"{bench.nginx.plain}/tiny/{number * 5 + entry}.png" for entry in range(5)])
    with Agent(folders) as agent:
        agent.wait_until_in_sync(lists * 5)
        # Connections that are kept, and what is stored a second later, belong to the downloads.
        time.sleep(5)
        before = agent.activity()
        time.sleep(seconds)
        after = agent.activity()
    changes = [(now[0] - before.get(key, (0, 0))[0], now[1] - before.get(key, (0, 0))[1]) for key, now in after.items()]
    report.add("idle", "wake-ups in a minute", "", sum(woken for woken, _ in changes) * 60 / seconds,
               note=f"{len(after)} threads")
    report.add("idle", "processor time in a minute", "ms", 1000 * sum(used for _, used in changes) * 60 / seconds)
