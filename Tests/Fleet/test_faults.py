# SPDX-License-Identifier: Apache-2.0
"""Upstreams that fail in all ways: the icons come all the same, in time, and the origin is asked once for each."""
import time

from case import FleetTest
from commands import Later, until
from engines import NginxStatic
from servers import Origin, TreeServer

# How many icons each agent wants before its upstream heals, and after that.
BEFORE, AFTER = 10, 5
WAIT, SPREAD = 2, 2
# How many are tried at once.
TOGETHER = 5
# How much longer the first icon may take, in seconds.
PATIENCE = 10
# What fails, and for which requests.
FAULTS = ("refuse", "hang", "500", "503", "403", "401", "cut", "flip", "slow", "frozen")
QUICK = [("refuse", "all"), ("hang", "all"), ("500", "all"), ("401", "all"), ("frozen", "all"),
         ("403", "icons"), ("cut", "icons"), ("flip", "icons"), ("slow", "icons")]
SETTINGS = {
    "poll": "1s", "wait": f"{WAIT}s", "spread": f"{SPREAD}s", "connectTimeout": "1s", "idleTimeout": "1s",
    "totalTimeout": "3s", "missTTL": "1s", "breakFor": "500ms", "breakMax": "2s"}


class Faults(FleetTest):
    """A follower for each fault, whose upstream has the icons but does not deliver them."""

    def setUp(self):
        super().setUp()
        self.origin = self.serve(Origin())
        self.seeder = self.agent("seeder").start()
        self.tree = self.folder / "tree"

    def publish(self, name, numbers):
        self.seeder.drop(name, [self.origin.address(number) for number in numbers])
        until(f"the icons of {name}", lambda: self.seeder.manifest()["lists"].get(f"{name}.plist", {}).get("ready")
              == len(numbers), 60)

    def expect_the_origin_instead(self, reader, numbers):
        """The icons come from the origin, and each is requested once."""
        until(f"{reader.name} to have started", lambda: (reader.cache / "manifest.json").exists(), 60)
        start = time.monotonic()
        reader.await_ready(1, WAIT + SPREAD + PATIENCE)
        first = time.monotonic() - start
        reader.await_ready(len(numbers), 60)
        asked = self.origin.icons()
        # Once by the seeder, once by the follower.
        self.assertEqual({asked[number] for number in numbers}, {2}, reader.name)
        return first

    def expect_the_upstream_again(self, reader, numbers):
        """After it healed, icons come from the upstream."""
        start = time.monotonic()
        until(lambda: f"{reader.name} to find its upstream fresh, not {reader.upstreams()}",
              lambda: all(state == "fresh" for state, _ in reader.states()), 60)
        healed = time.monotonic() - start
        reader.drop("after", [self.origin.address(number) for number in numbers])
        reader.await_ready(BEFORE + len(numbers), 60)
        asked = self.origin.icons()
        self.assertEqual({asked[number] for number in numbers}, {1}, reader.name)
        self.assertEqual(reader.command("verify", check=False).code, 0)
        return healed

    def test_the_origin_is_asked_while_an_upstream_fails_and_the_upstream_once_it_is_well(self):
        cases = QUICK if self.sizes.quick else [(fault, of) for of in ("all", "icons") for fault in FAULTS
                                                       if of == "all" or fault not in ("refuse", "frozen")]
        numbers = {case: range(100 * place, 100 * place + BEFORE) for place, case in enumerate(cases)}
        later = {case: range(100 * place + 50, 100 * place + 50 + AFTER) for place, case in enumerate(cases)}
        self.publish("before", [number for some in numbers.values() for number in some])
        self.publish("after", [number for some in later.values() for number in some])
        self.seeder.export(self.tree)
        upstreams = {}
        for case in cases:
            fault, of = case
            if fault == "frozen":
                upstreams[case] = self.start(NginxStatic, self.tree)
                upstreams[case].process.freeze()
                continue
            upstreams[case] = self.serve(TreeServer(self.tree))
            # 403 is what a bucket says of a file that it does not have (any more).
            upstreams[case].break_down(fault, lambda path, of=of: of == "all" or path.startswith("/icons/"))
        # Not all at once: they would wait for each other's start.
        for start in range(0, len(cases), TOGETHER):
            self.try_cases(cases[start:start + TOGETHER], upstreams, numbers, later)

    def try_cases(self, cases, upstreams, numbers, later):
        readers = {case: self.agent("-".join(case), [upstreams[case].url], **SETTINGS) for case in cases}
        for case, reader in readers.items():
            reader.drop("before", [self.origin.address(number) for number in numbers[case]])
            # Not in another thread: a process ends with the thread that started it.
            reader.start()
        work = {case: Later(self.expect_the_origin_instead, reader, numbers[case]) for case, reader in readers.items()}
        first = {}
        for case in cases:
            with self.subTest("while it fails", case=case):
                first[case] = work[case].get()
        for case in cases:
            if case[0] == "frozen":
                upstreams[case].process.thaw()
            else:
                upstreams[case].heal()
        work = {case: Later(self.expect_the_upstream_again, readers[case], later[case]) for case in first}
        for case in first:
            with self.subTest("after it healed", case=case):
                healed = work[case].get()
                self.note(f"{case[0]} ({case[1]}): first icon after {first[case]:.1f} s, "
                          f"healed after {healed:.1f} s")
        for reader in readers.values():
            reader.stop()

    def test_the_second_upstream_helps_out_and_the_first_is_used_again_once_it_is_well(self):
        self.publish("before", range(BEFORE))
        self.publish("after", range(50, 50 + AFTER))
        self.seeder.export(self.tree)
        first, second = (self.serve(TreeServer(self.tree)) for _ in range(2))
        first.break_down("500")
        reader = self.agent("reader", [first.url, second.url], asks_origins=False, **SETTINGS)
        reader.drop("before", [self.origin.address(number) for number in range(BEFORE)])
        reader.start()
        reader.await_ready(BEFORE, 30)
        self.assertEqual(sum(path.startswith("/icons/") for path in second.counts()), BEFORE)
        first.heal()
        until("the first upstream to be fresh", lambda: {state for state, _ in reader.states()} == {"fresh"}, 30)
        first.forget()
        second.forget()
        reader.drop("after", [self.origin.address(number) for number in range(50, 50 + AFTER)])
        reader.await_ready(BEFORE + AFTER, 30)
        icons = [sum(path.startswith("/icons/") for path in server.counts()) for server in (first, second)]
        self.assertEqual(icons, [AFTER, 0])
        self.assertEqual(set(self.origin.icons().values()), {1})

    def test_an_upstream_opens_the_way_to_no_other_address(self):
        self.publish("before", range(BEFORE))
        self.seeder.export(self.tree)
        first, other = (self.serve(TreeServer(self.tree)) for _ in range(2))
        first.break_down(other.url)
        reader = self.agent("reader", [first.url], asks_origins=True, **SETTINGS)
        # It may ask origins, but only public ones.
        reader.asks_origins = False
        reader.drop("before", [self.origin.address(number) for number in range(BEFORE)])
        reader.start()
        until("the icons to fail", lambda: reader.status()["icons"]["failed"] == BEFORE, 30)
        self.assertGreater(len(first.requests), 0)
        self.assertEqual(other.requests, [])
        self.assertEqual(set(self.origin.icons().values()), {1})
        first.heal()
        reader.await_ready(BEFORE, 60)
        self.assertEqual(set(self.origin.icons().values()), {1})
