# SPDX-License-Identifier: Apache-2.0
"""The library that the Python reader of a checkout stands on."""
import contextlib, fcntl, glob, os, shutil, subprocess

PROJECT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
SOURCES = os.path.join(PROJECT, "Sources/LibIconCache")
ROOT = os.path.join(PROJECT, ".build/conformance/root")


def built():
    """The path of the library that was built last; none if it is older than its sources."""
    found = sorted(glob.glob(f"{ROOT}/usr/lib/**/libiconcache.so.0.*", recursive=True), key=os.path.getmtime)
    newest = max(map(os.path.getmtime, glob.glob(f"{SOURCES}/*.[ch]")))
    return found[-1] if found and os.path.getmtime(found[-1]) >= newest else None


def library():
    """The path of the library: that of ICONCACHE_LIBRARY, or that of this checkout, which is built if it is not there.

    Without a compiler, or in a checkout that cannot be written, it is none: then that of the system is used.
    """
    if path := os.environ.get("ICONCACHE_LIBRARY"):
        return path
    if not built() and shutil.which(os.environ.get("CC", "cc")):
        with contextlib.suppress(PermissionError):
            os.makedirs(ROOT, exist_ok=True)
            with open(f"{ROOT}.lock", "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not built():
                    subprocess.run([os.path.join(PROJECT, "Packaging/libiconcache"), ROOT], check=True)
    return built()


def environment(**others):
    """The environment for a program that imports the reader of this checkout."""
    path = library()
    return {**os.environ, "PYTHONPATH": os.path.join(PROJECT, "Sources/PythonIconCache"),
            **({"ICONCACHE_LIBRARY": path} if path else {}), **others}
