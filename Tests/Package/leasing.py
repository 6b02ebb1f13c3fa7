# SPDX-License-Identifier: Apache-2.0
"""Readers in any language that take leases, asked by way of their adapters of the conformance suite."""
import hashlib
import importlib.util
import pathlib
import random
import shlex

import icons
from reader import RepeatedReading

# That folder has a module of the same name as one here.
_path = pathlib.Path(__file__).resolve().parents[1] / "Conformance/reader.py"
_specification = importlib.util.spec_from_file_location("conformance_reader", _path)
conformance = importlib.util.module_from_spec(_specification)
_specification.loader.exec_module(conformance)


class LeasingReader(RepeatedReading):
    """Takes a lease, reads a list and some of its images, and releases it; notes whatever is missing."""

    def __init__(self, command, cache, lists):
        # Readers that took all of the processors would leave the agent little.
        self.reader = conformance.Reader(["nice", "-n", "10", *shlex.split(command)], str(cache))
        super().__init__(self.reader.name)
        self.lists = lists

    def pause(self):
        return random.random()

    def read_once(self):
        name = random.choice(self.lists)
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
                expected = hashlib.sha256(icons.png(icons.number_of(url))).hexdigest()
                if found.get("sha256") != expected:
                    raise AssertionError(f"{found} in place of the image of {url}")
                self.reads += 1
        self.reader.ask("release")

    def __exit__(self, *error):
        try:
            super().__exit__(*error)
        finally:
            self.reader.end()
