# SPDX-License-Identifier: Apache-2.0
"""What machine it was, and with what."""
import os
import platform
import re
import shutil
import subprocess

PEERS = {"nginx": ["nginx", "-v"], "wget2": ["wget2", "--version"], "curl": ["curl", "--version"],
         "openssl": ["openssl", "version"], "ostree": ["ostree", "--version"]}
# What a row needs is there, or the row is skipped. The packages are Debian's.
PACKAGES = {
    "nginx": "nginx-light", "wget2": "wget2", "curl": "curl", "ostree": "ostree", "openssl": "openssl", "strace": "strace",
    "strip": "binutils"}


def _output(*command):
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return run.stdout.strip() if run.returncode == 0 else ""


def _processor():
    with open("/proc/cpuinfo") as file:
        fields = dict(line.split(":", 1) for line in file if ":" in line)
    fields = {key.strip(): value.strip() for key, value in fields.items()}
    flags = fields.get("flags", fields.get("Features", "")).split()
    megahertz = fields.get("cpu MHz")
    return {
        "processor": fields.get("model name", platform.machine()), "cores": os.cpu_count(),
        "MHz": round(float(megahertz)) if megahertz else None,
        "SHA extensions": "sha_ni" in flags or "sha2" in flags}


def describe(program, work):
    """The machine, the versions and the commit, by name."""
    with open("/proc/meminfo") as file:
        kibibytes = int(file.readline().split()[1])
    found = {**_processor(), "memory": f"{kibibytes / (1 << 20):.1f} GiB", "kernel": platform.release()}
    found["file system"] = _output("findmnt", "-no", "FSTYPE,OPTIONS", "--target", work) or _output(
        "stat", "-fc", "%T", work)
    with open("/proc/loadavg") as file:
        found["load before"] = file.read().split()[0]
    found["syncagent"] = _output(program, "--version")
    here = os.path.dirname(os.path.abspath(__file__))
    found["commit"] = _output("git", "-C", here, "describe", "--always", "--dirty", "--abbrev=12") or "unknown"
    for peer, command in PEERS.items():
        if shutil.which(peer):
            version = re.search(r"\d+\.\d+(\.\d+)?\w*", _output(*command))
            found[peer] = version[0] if version else "?"
    return found


def missing():
    """The Debian packages of programs that are not there, by program."""
    return {program: package for program, package in PACKAGES.items() if not shutil.which(program)}


def sizes(bench):
    """What the three programs take on disk without their symbols."""
    report = bench.report
    report.section("Programs, stripped")
    total = 0
    for name in ("syncagent", "syncagent-watch", "syncagent-parse"):
        if not shutil.which("strip"):
            report.skip("sizes", name, "strip is not installed")
            continue
        copy = os.path.join(bench.work, name)
        subprocess.run(["strip", "-o", copy, os.path.join(os.path.dirname(bench.program), name)], check=True)
        report.add("sizes", name, "MB", os.stat(copy).st_size / 1e6)
        total += os.stat(copy).st_size / 1e6
    if total:
        report.add("sizes", "all three", "MB", total)
