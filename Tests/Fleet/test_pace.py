# SPDX-License-Identifier: Apache-2.0
"""Real agents for which a minute takes a second. FleetSimulation.md has what the simulation says of as many."""
import random
import time

from case import FleetTest, not_quick
from commands import until
from engines import NginxProxy
from servers import IMMUTABLE, Origin, TreeServer

ICONS = 5
# Those of the scenarios `paced-1` and `paced-20` of Tests/Simulation: the defaults, and a sixtieth of their times.
SETTINGS = {"poll": "15s", "wait": "15s", "spread": "15s", "missTTL": "1s", "breakFor": "1s", "breakMax": "15s"}
MANIFEST = "public, max-age=1, stale-while-revalidate=10, stale-if-error=1440"
BEFORE, LANDING, END = 20, 5, 90


class Pace(FleetTest):
    """A list reaches the agents one by one, and the seeder in the middle of them; the copy follows after a while."""

    def pass_time(self, delay):
        origin = self.serve(Origin())
        urls = [origin.address(number) for number in range(ICONS)]
        tree = self.folder / "tree"
        seeder = self.agent("seeder").start()
        until("a first manifest", lambda: seeder.manifest()["generation"] > 0, 30)
        seeder.export(tree)
        server = self.serve(TreeServer(tree, MANIFEST))
        engine = self.start(NginxProxy, server.port)
        agents = [self.agent(f"agent-{number}", [engine.url], **SETTINGS) for number in range(self.sizes.agents)]
        start = time.monotonic()
        for agent in agents:
            agent.start()
        zero = start + BEFORE
        chosen = random.Random(1)
        todo = [(zero + LANDING * chosen.random(), lambda agent=agent: agent.drop("all", urls)) for agent in agents]

        def export():
            seeder.await_ready(ICONS, 30)
            todo.append((time.monotonic() + delay, lambda: seeder.export(tree)))

        todo += [(zero + LANDING / 2, lambda: seeder.drop("all", urls)), (zero + LANDING / 2, export)]
        arrivals = {agent: [] for agent in agents}
        while time.monotonic() < zero + END:
            for one in sorted((one for one in todo if one[0] <= time.monotonic()), key=lambda one: one[0]):
                todo.remove(one)
                one[1]()
            now = time.monotonic() - zero
            for agent, times in arrivals.items():
                times += [now] * (agent.ready() - len(times))
            self.pause_until(time.time() + 0.05)
        times = sorted(time for one in arrivals.values() for time in one)
        self.assertEqual(len(times), ICONS * len(agents))
        requests = origin.icons()
        polls = sum(one.path == "/manifest.json" for one in server.requests)
        self.note(f"{len(agents)} agents, copy after {delay} s: the origin of an icon had at most "
                  f"{max(requests.values())} requests, and {sum(requests.values()) / ICONS:.1f} on average; "
                  f"the server had {len(server.requests)}, {polls} of them for the manifest; half were there after "
                  f"{times[len(times) // 2 - 1]:.1f} s, 99 % after {times[len(times) * 99 // 100 - 1]:.1f} s, "
                  f"all after {times[-1]:.1f} s")
        return max(requests.values()), times[-1]

    @not_quick
    def test_a_copy_in_time(self):
        most, last = self.pass_time(1)
        self.assertEqual(most, 1)
        self.assertLess(last, LANDING + 15 + 5)

    @not_quick
    def test_a_copy_after_most_have_asked_origins(self):
        most, last = self.pass_time(20)
        self.assertLessEqual(most, self.sizes.agents + 1)
        self.assertLess(last, LANDING + 30 + 5)
