# SPDX-License-Identifier: Apache-2.0
"""Commands that end: in their time, or with the suite."""
import contextlib
import ctypes
import os
import signal
import subprocess
import tempfile
import threading
import time
from typing import NamedTuple

# What runs now.
running = set()
# Runs a command in a space of processes of its own: when it ends, or the suite, the kernel ends all that it started.
CONTAINED = ("unshare", "--pid", "--mount-proc", "--fork", "--kill-child")
# Looked up before a fork, when other threads can hold no lock that this needs.
prctl = ctypes.CDLL(None).prctl


class Result(NamedTuple):
    code: int
    out: str
    err: str


class CommandFailed(AssertionError):
    pass


def die_with_parent():
    """Between fork and exec: has the kernel end this process when the suite ends, however that is."""
    prctl(1, signal.SIGKILL)


def execute(*command, limit=60, check=True, data=b"", **options):
    """Runs a command to its end, or ends it and all that it started.

    Its output goes to files: a process that it leaves behind holds no pipe that somebody would wait for.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as stdin:
        stdin.write(data)
        stdin.seek(0)
        process = subprocess.Popen(
            [str(part) for part in command], stdin=stdin, stdout=out, stderr=err, start_new_session=True,
            preexec_fn=die_with_parent, **options)
        running.add(process)
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            end(process)
            running.discard(process)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    if code is None or (check and code):
        ended = f"took more than {limit} s" if code is None else f"ended with {code}"
        raise CommandFailed(f"{' '.join(map(str, command))} {ended}.\n{texts[0]}{texts[1]}")
    return Result(code, *texts)


def end(process):
    """Ends a command, if it still runs, and whatever it started that is in its group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def until(what, condition, limit=30, pause=0.02):
    """Waits for a condition, asked every so many seconds, and returns its value. `what` completes the sentence "waited in
    vain for …"."""
    end = time.monotonic() + limit
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"Waited {limit} s in vain for {what() if callable(what) else what}.")
        time.sleep(pause)
    return value


class Later:
    """A value that is computed beside other work."""

    def __init__(self, work, *arguments):
        self.value = self.error = None
        # Not one that is waited for if the suite is interrupted.
        self.thread = threading.Thread(target=self._compute, args=(work, arguments), daemon=True)
        self.thread.start()

    def _compute(self, work, arguments):
        try:
            self.value = work(*arguments)
        except Exception as error:
            self.error = error

    def get(self):
        self.thread.join()
        if self.error:
            raise self.error
        return self.value
