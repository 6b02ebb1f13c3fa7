# SPDX-License-Identifier: Apache-2.0
"""Many agents have the icons, and the origin was asked once for each."""
import concurrent.futures
import time

from agents import Agent
from case import FleetTest, not_quick
from commands import until
from engines import NginxProxy, NginxStatic, SeaweedFS, Squid, Varnish
from servers import Origin

# The lists that the icons are in.
LISTS = 5


class Sharing(FleetTest):
    """One seeder asks the origin, and exports; all others have one engine as upstream.

    Their lists are there before the copy is.
    """

    @classmethod
    def setUpClass(cls):
        cls.origin = Origin()
        cls.addClassCleanup(cls.origin.stop)
        folder = cls.scratch / cls.__name__
        cls.seeder = Agent(cls.programs, folder, "seeder")
        cls.addClassCleanup(cls.seeder.stop)
        cls.drop(cls.seeder)
        cls.seeder.start()
        cls.seeder.await_ready(cls.sizes.icons, 300)
        assert set(cls.origin.icons().values()) == {1}

    @classmethod
    def drop(cls, agent):
        for part in range(LISTS):
            agent.drop(f"list-{part}", [cls.origin.address(number) for number in range(part, cls.sizes.icons, LISTS)])

    def share(self, url, export, asks_origins):
        """Agents with this upstream get all icons, and the origin is not asked."""
        start = time.monotonic()
        agents = [self.agent(f"agent-{number}", [url], asks_origins=asks_origins)
                  for number in range(self.sizes.agents)]
        for agent in agents:
            self.drop(agent)
            agent.start()
        for agent in agents:
            until(f"the lists of {agent.name}", lambda: len(agent.manifest()["lists"]) == LISTS, 300)
        self.assertEqual([agent.ready() for agent in agents], [0] * len(agents))
        # Each has looked for the copy in vain.
        for agent in agents:
            until(f"a poll of {agent.name}", lambda: all(one["lastPoll"] for one in agent.upstreams()), 60)
        copied = time.monotonic()
        export()
        for agent in agents:
            agent.await_ready(self.sizes.icons, 900)
        there = time.monotonic()
        more = sum(self.origin.icons().values()) - self.sizes.icons
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for result in pool.map(lambda agent: agent.command("verify", check=False), agents):
                self.assertEqual(result.code, 0, result.out + result.err)
        self.note(f"{len(agents)} agents, {self.sizes.icons} icons: the origin had {self.sizes.icons + more} requests; "
                  f"all agents had all icons {there - copied:.0f} s after the export began, "
                  f"{there - start:.0f} s after the first of them was started")
        self.assertLessEqual(more, self.sizes.icons // 50 if asks_origins else 0)
        for agent in agents:
            agent.stop()

    def through_folder(self, proxy, asks_origins):
        tree = self.folder / "tree"
        tree.mkdir(mode=0o755)
        engine = static = self.start(NginxStatic, tree)
        if proxy:
            engine = self.start(proxy, static.port)
        self.share(engine.url, lambda: self.seeder.export(tree), asks_origins)

    def through_bucket(self, asks_origins):
        bucket = self.start(SeaweedFS)
        self.share(bucket.url, lambda: self.seeder.export("--rclone", bucket.remote, env=bucket.variables()),
                   asks_origins)

    def test_nginx_without_origins(self):
        self.through_folder(None, asks_origins=False)

    def test_nginx_proxy_cache_without_origins(self):
        self.through_folder(NginxProxy, asks_origins=False)

    def test_varnish_without_origins(self):
        self.through_folder(Varnish, asks_origins=False)

    def test_squid_without_origins(self):
        self.through_folder(Squid, asks_origins=False)

    def test_seaweedfs_without_origins(self):
        self.through_bucket(asks_origins=False)

    @not_quick
    def test_nginx_with_origins(self):
        self.through_folder(None, asks_origins=True)

    def test_nginx_proxy_cache_with_origins(self):
        self.through_folder(NginxProxy, asks_origins=True)

    @not_quick
    def test_varnish_with_origins(self):
        self.through_folder(Varnish, asks_origins=True)

    @not_quick
    def test_squid_with_origins(self):
        self.through_folder(Squid, asks_origins=True)

    @not_quick
    def test_seaweedfs_with_origins(self):
        self.through_bucket(asks_origins=True)
