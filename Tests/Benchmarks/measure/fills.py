# SPDX-License-Identifier: Apache-2.0
"""How long it takes to download many icons once, beside programs that only download, and beside ones that do more."""
import glob
import os
import re
import shlex
import shutil
import statistics
import subprocess
import time

from .agent import Folders
from .origins import SlowOrigin

SLOTS = 32
SLOT_SETTINGS = {"SYNCAGENT_FETCH_PER_HOST": str(SLOTS), "SYNCAGENT_FETCH_CONCURRENCY": str(SLOTS)}


class Run:
    """The wall-clock and processor time of a program and its children, in seconds."""

    def __init__(self, command, environment=None, folder=None):
        # What an earlier run left to be written is not to be paid for by this one.
        os.sync()
        begun = time.monotonic()
        process = subprocess.Popen(
            command, env=environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        self.wall, self.ended = time.monotonic() - begun, time.time()
        self.cpu = usage.ru_utime + usage.ru_stime
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise RuntimeError(f"{os.path.basename(command[0])} ended with {process.returncode}: {errors[-500:]}")


class Fill:
    """The same icons for each program, and a fresh folder for each run: inodes that were just freed make ext4 slow."""

    def __init__(self, bench, urls, authority=None):
        self.bench, self.urls, self.authority = bench, urls, authority
        self.folder = bench.fresh("fill")
        with open(f"{self.folder}/urls", "w") as file:
            file.write("".join(f"{url}\n" for url in urls))
        with open(f"{self.folder}/curl.conf", "w") as file:
            file.write("".join(f'url = "{url}"\noutput = "{number}.png"\n' for number, url in enumerate(urls)))

    def folders(self, settings=None):
        trust = {"SSL_CERT_FILE": self.authority} if self.authority else {}
        folders = Folders(self.bench.program, self.bench.fresh("agent"), {**SLOT_SETTINGS, **trust, **(settings or {})})
        folders.drop("apps.plist", [{"name": f"App {n}", "icon": url} for n, url in enumerate(self.urls)])
        return folders

    def ours(self):
        folders = self.folders()
        return Run(folders.command("run", "--once"), folders.environment)

    def wget2(self):
        return self.peer("wget2", "-q", "--max-threads", str(SLOTS), "-i", f"{self.folder}/urls")

    def curl(self):
        return self.peer(*self.curl_command())

    def curl_command(self):
        secure = ["--http2", "--cacert", self.authority] if self.authority else []
        return ["curl", "-s", "-Z", "--parallel-max", str(SLOTS), *secure, "-K", f"{self.folder}/curl.conf"]

    def hashed_and_durable(self):
        """What the agent does besides, without a manifest: the bytes are hashed, and on the disk."""
        script = f"{shlex.join(self.curl_command())} && find . -type f -exec sha256sum {{}} + >/dev/null && sync"
        return self.peer("sh", "-c", script)

    def ostree(self):
        """A commit of the same files, pulled into a repository of plain files: it hashes and flushes them, too.

        ostree asks for eight at a time.
        """
        folder = self.bench.fresh("ostree")
        ostree(folder, "init", "--mode=bare-user-only")
        ostree(folder, "remote", "add", "--no-gpg-verify", "origin", self.bench.repository())
        run = Run(["ostree", f"--repo={folder}", "pull", "origin", "icons"])
        self.check("ostree", len(glob.glob(f"{folder}/objects/*/*.file")))
        return run

    def peer(self, name, *arguments):
        folder = self.bench.fresh(name)
        run = Run([name, *arguments], folder=folder)
        self.check(name, len(os.listdir(folder)))
        return run

    def check(self, name, found):
        if found != len(self.urls):
            raise RuntimeError(f"{name} left {found} files of {len(self.urls)}")


# How a fill by a peer is run, and the program without which it is left out.
PEERS = {
    "wget2": (Fill.wget2, "wget2"), "curl": (Fill.curl, "curl"),
    "curl -Z + sha256sum + sync": (Fill.hashed_and_durable, "curl"), "ostree pull": (Fill.ostree, "ostree")}


def pairs(bench, name, fill, peers):
    """Runs ours and the peers one after the other, every other round in the reverse order."""
    there = [peer for peer in peers if shutil.which(PEERS[peer][1])]
    for peer in peers:
        if peer not in there:
            bench.report.skip("fill", f"{name}: {peer}", f"{PEERS[peer][1]} is not installed")
    measures = {"ours": Fill.ours, **{peer: PEERS[peer][0] for peer in there}}
    runs = {who: [] for who in measures}
    for number in range(bench.pairs):
        for who in list(runs) if number % 2 == 0 else reversed(list(runs)):
            runs[who].append(measures[who](fill))
    count = len(fill.urls)
    for what, unit, scale in (("wall", "s", 1), ("cpu", "µs", 1e6 / count)):
        values = {who: [getattr(run, what) * scale for run in done] for who, done in runs.items()}
        ratios = {
            peer: statistics.median(a / b for a, b in zip(values["ours"], values[peer])) for peer in there}
        bench.report.add(
            "fill", f"{name}: {'wall' if what == 'wall' else 'CPU an icon'}", unit, statistics.median(values["ours"]),
            peers={peer: statistics.median(values[peer]) for peer in there}, ratios=ratios, runs=values)


def measure(bench):
    report, nginx = bench.report, bench.nginx
    report.section(f"Cold fill with {SLOTS} at a time, medians of {bench.pairs} rounds")
    if nginx is None:
        report.skip("fill", "all fills from nginx", "nginx or openssl is not installed")
    else:
        icons = [f"/icons/{number}.png" for number in range(10_000)]
        plain = Fill(bench, [nginx.plain + path for path in icons])
        pairs(bench, "10,000 of 12 KB, HTTP/1.1", plain, list(PEERS))
        last_byte_to_exit(bench, Fill(bench, [nginx.plain + path.replace("icons", "timed") for path in icons]))
        system_calls(bench, plain)
        secure = Fill(bench, [nginx.secure + path for path in icons], nginx.authority)
        pairs(bench, "10,000 of 12 KB, HTTP/2 over TLS", secure, ["curl"])
        tiny = [f"{nginx.plain}/tiny/{number}.png" for number in range(10_000)]
        pairs(bench, "10,000 of 100 bytes", Fill(bench, tiny), ["curl"])
        middle = [f"{nginx.plain}/middle/{number}.png" for number in range(2000)]
        pairs(bench, "2,000 of 100 KB", Fill(bench, middle), ["wget2", "curl"])
        large = [f"{nginx.plain}/large/{number}.png" for number in range(bench.large)]
        pairs(bench, f"{bench.large} of 1 MB", Fill(bench, large), ["curl"])
        not_modified(bench, [f"{nginx.plain}/stale/{number}.png" for number in range(10_000)])
    slow(bench)


def last_byte_to_exit(bench, fill):
    """What `run --once` still does when the server has sent all."""
    times = []
    for _ in range(bench.pairs):
        run = fill.ours()
        times.append(run.ended - bench.nginx.last_answer())
    bench.report.add("fill", "10,000 of 12 KB: last byte to the end", "s", statistics.median(times), runs=times)


def system_calls(bench, fill):
    """How many there are for an icon; strace makes a fill take longer, and what is done every so often is done more often."""
    if not shutil.which("strace"):
        bench.report.skip("fill", "10,000 of 12 KB: system calls an icon", "strace is not installed")
        return
    folders, summary = fill.folders(), f"{bench.fresh('strace')}/calls"
    Run(["strace", "-f", "-c", "-o", summary, *folders.command("run", "--once")], folders.environment)
    with open(summary) as file:
        # % time, seconds, µs a call, calls, errors if there are any, name
        rows = re.findall(r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+) +(?:\d+ +)?(\w+)$", file.read(), re.MULTILINE)
    calls = {name: int(count) / len(fill.urls) for count, name in rows if name != "total"}
    most = sorted((name for name in calls if name not in ("linkat", "openat")), key=calls.get, reverse=True)[:6]
    bench.report.add(
        "fill", "10,000 of 12 KB: system calls an icon", "", sum(calls.values()), calls=calls,
        note=", ".join(f"{calls.get(name, 0):.2f} {name}" for name in ["linkat", "openat", *most]))


def ostree(repository, *arguments):
    subprocess.run(["ostree", f"--repo={repository}", *arguments], check=True, stdout=subprocess.DEVNULL)


def not_modified(bench, urls):
    """All images are there, and stale: a request with its validator for each, and no bytes."""
    runs = []
    folders = Fill(bench, urls).folders({"SYNCAGENT_REFRESH_MINIMUM": "1s"})
    Run(folders.command("run", "--once"), folders.environment)
    for _ in range(bench.pairs):
        # What is fetched again is delayed by a tenth of its age at most.
        time.sleep(2.5)
        before = bench.nginx.requests()
        runs.append(Run(folders.command("run", "--once"), folders.environment))
        asked = bench.nginx.requests() - before
        if asked < len(urls):
            bench.report.skip("fill", "10,000 not modified", f"only {asked} were asked for again")
            return
    bench.report.add("fill", "10,000 not modified: wall", "s", statistics.median(run.wall for run in runs))
    bench.report.add(
        "fill", "10,000 not modified: CPU an icon", "µs",
        statistics.median(run.cpu * 1e6 / len(urls) for run in runs))


def slow(bench):
    """No client can do without icons × delay ÷ slots, and this origin needs some milliseconds of its own for each answer."""
    count, delay = 4000, 0.03
    origin = SlowOrigin(delay, 12_288)
    try:
        fill = Fill(bench, [f"{origin.url}/{number}.png" for number in range(count)])
        pairs(bench, f"{count:,} after 30 ms ({count * delay / SLOTS:.2f} s at the least)", fill, ["wget2", "curl"])
    finally:
        origin.end()
