# SPDX-License-Identifier: Apache-2.0
"""Readers in any language that take leases, asked by way of their adapters of the conformance suite."""
import hashlib
import importlib.util
import pathlib
import random
import shlex
import threading

import icons

# That folder has a module of the same name as one here.
_path = pathlib.Path(__file__).resolve().parents[1] / "Conformance/reader.py"
_specification = importlib.util.spec_from_file_location("conformance_reader", _path)
conformance = importlib.util.module_from_spec(_specification)
_specification.loader.exec_module(conformance)


class LeasingReader:
    """Takes a lease, reads a list and some of its images, and releases it, again and again; notes whatever is missing."""

    def __init__(self, command, cache, lists):
        # Readers that took all of the processors would leave the agent little.
        self.reader = conformance.Reader(["nice", "-n", "10", *shlex.split(command)], str(cache))
        self.name, self.lists = self.reader.name, lists
        self.reads = 0
        self.faults = []
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.read, daemon=True)

    def read(self):
        while not self.is_over.wait(random.random()):
            try:
                self.read_once(random.choice(self.lists))
            except conformance.NoAnswer as error:
                self.faults.append(f"read {self.reads}: {error}")
                return
            except Exception as error:
                self.faults.append(f"read {self.reads}: {type(error).__name__}: {error}")

    def read_once(self, name):
        held = self.reader.ask("hold")
        if not held.get("leased"):
            raise AssertionError(f"no lease: {held}")
        for _ in range(2):
            answer = self.reader.ask("apps", list=name)
            ready = [index for index, app in enumerate(answer.get("apps", [])) if app["status"] == "ready"]
            if not ready:
                raise AssertionError(f"no icon of {name} is ready: {str(answer)[:200]}")
            for index in random.sample(ready, min(5, len(ready))):
                url = answer["apps"][index]["icon"]
                found = self.reader.ask("open", list=name, index=index)
                expected = hashlib.sha256(icons.png(int(url.rpartition("/")[2].removesuffix(".png")))).hexdigest()
                if found.get("sha256") != expected:
                    raise AssertionError(f"{found} in place of the image of {url}")
                self.reads += 1
        self.reader.ask("release")

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.is_over.set()
        self.thread.join(30)
        self.reader.end()
        if error[0] is None:
            assert not self.faults, f"{len(self.faults)} reads of {self.name} failed:\n" + "\n".join(self.faults[:10])
            assert self.reads, "nothing was read"
