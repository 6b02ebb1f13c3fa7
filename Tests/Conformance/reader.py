# SPDX-License-Identifier: Apache-2.0
"""A reader, asked by way of its adapter: one question a line, one answer a line."""
import contextlib, json, os, selectors, subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECT = os.path.join(HERE, "../..")


class NoAnswer(Exception):
    """The reader ended, or did not answer in time."""


class Reader:
    # How long the reader may take for an answer, in seconds. A shell takes 16 s for 100,000 apps, and 120 s were too few beside
    # other work: the limit is for readers that hang.
    patience = 600

    def __init__(self, command, folder=None, environment=None, directory=None):
        self.process = subprocess.Popen(
            [*command, *([folder] if folder else [])], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, **(environment or {})}, cwd=directory)
        self.rest = b""
        try:
            hello = self.line()
        except NoAnswer:
            self.process.kill()
            raise
        self.name, self.can = hello["reader"], {"path", *hello["can"]}

    def line(self):
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while b"\n" not in self.rest:
                if not selector.select(self.patience):
                    raise NoAnswer(f"no answer within {self.patience} s")
                data = os.read(self.process.stdout.fileno(), 1 << 20)
                if not data:
                    raise NoAnswer(f"the reader ended with {self.process.wait()}")
                self.rest += data
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def ask(self, question, **members):
        line = json.dumps({"ask": question, **members}) + "\n"
        try:
            self.process.stdin.write(line.encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            raise NoAnswer(f"the reader ended with {self.process.wait()}")
        return self.line()

    def descriptors(self):
        """What each descriptor of the reader leads to, but for files of /proc: the threads of libdispatch open the
        statistics of each other for a moment, whenever they like."""
        folder, found = f"/proc/{self.process.pid}/fd", []
        for name in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError):
                found.append(os.readlink(os.path.join(folder, name)))
        return sorted(path for path in found if not path.startswith("/proc/"))

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
