# SPDX-License-Identifier: Apache-2.0
"""What the tests of fleets have in common."""
import pathlib
import shutil
import tempfile
import time
import unittest

from agents import Agent
from engines import NginxProxy, Squid, Varnish


class Sizes:
    """How much the tests do: the quick form is for every build."""
    quick = False
    agents = 20
    icons = 2000
    # How long lists are published in a loop, in seconds.
    publishing = 600


def not_quick(test):
    """Marks a test that only the full form runs."""
    test.is_long = True
    return test


class FleetTest(unittest.TestCase):
    """A test with a folder of its own. What it starts is stopped at its end, in reverse order."""
    scratch: pathlib.Path
    programs: pathlib.Path
    sizes = Sizes

    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=self.scratch))
        self.folder.chmod(0o755)
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def start(self, kind, *arguments, **options):
        """Starts an engine of this kind, or skips the test if it is not installed."""
        if missing := kind.missing():
            self.skipTest(f"not installed: {', '.join(missing)}")
        engine = kind(self.folder, *arguments, **options)
        self.addCleanup(engine.stop)
        engine.start()
        return engine

    def agent(self, name, upstreams=(), **settings):
        """An agent that is started with its first use of `start`, and ends with the test."""
        agent = Agent(self.programs, self.folder, name, upstreams, **settings)
        self.addCleanup(agent.stop)
        return agent

    def serve(self, server):
        """A server of this process, until the end of the test."""
        self.addCleanup(server.stop)
        return server

    def note(self, text):
        """A figure for the documentation."""
        print(f"    {self._testMethodName}: {text}", flush=True)

    def pause_until(self, moment):
        """Waits for a moment of which the caches know: that of an expiry."""
        time.sleep(max(0, moment - time.time()))


PROXIES = (NginxProxy, Varnish, Squid)
