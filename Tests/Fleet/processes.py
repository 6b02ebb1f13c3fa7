# SPDX-License-Identifier: Apache-2.0
"""Servers and agents: processes that run until the test ends them."""
import contextlib
import os
import pathlib
import signal
import socket
import subprocess

from commands import die_with_parent, until

# What runs now.
running = set()


def free_ports(count):
    """Ports that nothing listened on a moment ago, on any address of this machine."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.bind(("", 0))
        return [one.getsockname()[1] for one in sockets]


def free_port():
    return free_ports(1)[0]


def accepts(port):
    """Whether something accepts connections there."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Process:
    """A process and its children, which are a group.

    It ends with the thread that started it, however that ends: so only the main thread starts one.
    """

    def __init__(self, name, command, log, **options):
        self.name = name
        self.log = pathlib.Path(log)
        with open(log, "ab") as file:
            self.process = subprocess.Popen(
                [str(part) for part in command], stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                start_new_session=True, preexec_fn=die_with_parent, **options)
        running.add(self)

    def await_port(self, port, limit=30):
        def ready():
            if self.process.poll() is not None:
                raise AssertionError(f"{self.name} ended with {self.process.returncode}.\n{self.tail()}")
            return accepts(port)

        until(f"{self.name} at port {port}", ready, limit)

    def tail(self, lines=20):
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def send(self, number):
        """Sends a signal to all of its group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def freeze(self):
        self.send(signal.SIGSTOP)

    def thaw(self):
        self.send(signal.SIGCONT)

    def stop(self, number=signal.SIGTERM, limit=10):
        """Ends it: with this signal, and after that time with SIGKILL."""
        if self not in running:
            return
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.kill(self.process.pid, number)
            self.process.wait(limit)
        self.kill()

    def kill(self):
        self.send(signal.SIGKILL)
        self.process.wait()
        running.discard(self)


def end_everything():
    for process in list(running):
        process.kill()
