# SPDX-License-Identifier: Apache-2.0
"""Upgrades and downgrades: nothing is asked for again, and readers always find a valid manifest."""
import icons
from case import CONFIGURATION, MachineTest
from commands import until

COUNT = 10_000
EARLY = 3_000
# How many downloads an agent has at once (fetch.concurrency).
IN_FLIGHT = 32


class Upgrade(MachineTest):
    def version(self):
        return self.machine.run("dpkg-query", "--show", "--showformat=${Version}", "syncagent").out

    def replace(self, deb):
        """Installs another version. Returns how many reads of the cache went well meanwhile."""
        before, version = self.pid(), self.version()
        with self.reading(self.ready()) as reading:
            self.install(deb)
            self.await_active(other_than=before)
            after = reading.reads
            until("reads by the new agent's side", lambda: reading.reads > after + 5)
        self.assertNotEqual(self.version(), version)
        return reading.reads

    def test_nothing_is_lost_or_asked_for_again(self):
        mine = '# Changed by an administrator.\n[fetch]\nidleTimeout = "2m"\ntotalTimeout = "5m"\n'
        self.configure(mine)
        self.machine.run("systemctl", "reload", "syncagent")
        self.syncagent("pin", icons.url(COUNT + 1), "--wait")
        self.origin.tell(f"hold {EARLY}")
        self.drop("many", range(COUNT))
        until("the first icons", lambda: sum(self.origin.counts().values()) > EARLY, 60)
        until("the first icons on disk", lambda: len(self.ready()) > EARLY, 60)
        early = self.ready()

        reads = self.replace(self.later)
        print(f"  upgrade with {len(early):,} of {COUNT:,} icons: {reads} reads, all well")
        self.assertEqual(self.machine.path(CONFIGURATION).read_text(), mine)
        self.origin.tell("release")
        self.sync("many", limit=120)
        everything = set(range(COUNT)) | {COUNT + 1}
        self.assertEqual(self.ready(), everything)
        counts = self.origin.counts()
        self.assertEqual({number: counts[number] for number in early if counts[number] != 1}, {})
        self.assertLessEqual(sum(counts.values()), COUNT + 1 + IN_FLIGHT)

        # A pause lasts, too; but first without one, which would keep the agent from asking.
        for deb, what, state in (
                (self.deb, "downgrade", "running"), (self.later, "upgrade", "running"), (self.deb, "downgrade", "paused")):
            if state == "paused":
                self.syncagent("pause")
            reads = self.replace(deb)
            until("the agent to be in sync", lambda: self.status()["inSync"])
            self.assertEqual(self.origin.counts(), counts)
            self.assertEqual(self.ready(), everything)
            self.assertEqual(self.machine.path(CONFIGURATION).read_text(), mine)
            self.assertIn(icons.url(COUNT + 1), self.syncagent("list", "pins").out)
            self.assertEqual(self.status()["state"], state)
            print(f"  {what} with {len(everything):,} icons: 0 requests, {reads} reads, all well")

