# SPDX-License-Identifier: Apache-2.0
"""Roots of Debian, made by mmdebstrap."""
import hashlib
import os
import shutil
import time

from commands import CONTAINED, CommandFailed, execute


def what_is_missing():
    """Why no machine can be made here."""
    if os.geteuid() != 0:
        return "root"
    for tool in ("mmdebstrap", "systemd-nspawn", "nsenter", "unshare", "ip"):
        if not shutil.which(tool):
            return tool
    try:
        execute("unshare", "--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "true")
    except CommandFailed as error:
        return f"namespaces: {error}"
    return None


def debian_root(suite, packages, folder, mirrors=None):
    """A root of a suite with these packages. It is made once; Debian's from the mirror that this machine uses."""
    packages = sorted(packages)
    name = hashlib.sha256(" ".join(packages).encode()).hexdigest()[:12]
    root = folder / f"{suite}-{name}"
    if root.exists():
        return root
    start = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{root.name}.part"
    if part.exists():
        shutil.rmtree(part)
    # Options of apt such as a proxy come from this machine, and do not stay in the root.
    dump = execute("apt-config", "dump", "Acquire").out.splitlines()
    kept = ("Acquire::http", "Acquire::Check-", "Acquire::Retries", "Acquire::ForceIPv")
    options = [f"--aptopt={line}" for line in dump if line.startswith(kept) and not line.endswith(' "";')]
    execute(
        *CONTAINED, "mmdebstrap", "--mode=root", "--variant=minbase", *options, f"--include={','.join(packages)}",
        "--dpkgopt=path-exclude=/usr/share/locale/*", "--customize-hook=rm -f $1/etc/apt/apt.conf.d/99mmdebstrap",
        suite, part, *(mirrors or own_mirrors(suite)), limit=400)
    part.rename(root)
    print(f"Made a root of {suite}: {time.monotonic() - start:.0f} s", flush=True)
    return root


def own_mirrors(suite):
    """The mirrors of this machine, if it is a Debian that has some."""
    form = "$(REPO_URI) $(LABEL)"
    listed = execute("apt-get", "indextargets", "--format", form, "Created-By: Packages", "Origin: Debian", check=False)
    known = dict(reversed(line.split(" ", 1)) for line in listed.out.splitlines())
    if "Debian" not in known:
        return []
    lines = [f"deb {known['Debian']} {suite} main", f"deb {known['Debian']} {suite}-updates main"]
    if "Debian-Security" in known:
        lines.append(f"deb {known['Debian-Security']} {suite}-security main")
    return lines
