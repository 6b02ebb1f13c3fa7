# SPDX-License-Identifier: Apache-2.0
"""What a follower believes of an upstream: never something older, never what nobody signed; and it forgets nothing."""
import calendar
import json
import random
import re
import shutil
import subprocess
import time

from agents import verified
from case import FleetTest
from commands import execute, until
from engines import SeaweedFS, program
from processes import Process
from servers import Origin, TreeServer

SETTINGS = {"poll": "500ms"}


class PublisherTest(FleetTest):
    """A seeder that exports into a folder."""

    def setUp(self):
        super().setUp()
        self.origin = self.serve(Origin())
        self.seeder = self.agent("seeder").start()
        self.tree = self.folder / "tree"
        self.upstream = None
        self.count = 0

    def publish(self, *options):
        """Ten more icons, exported."""
        self.add()
        self.seeder.export(self.tree, *options)

    def add(self):
        self.count += 10
        numbers = range(self.count - 10, self.count)
        self.seeder.drop(f"list-{self.count}", [self.origin.address(number) for number in numbers])
        self.seeder.await_ready(self.count, 30)


class Trust(PublisherTest):
    """A follower has the folder as upstream, and may ask nobody else."""

    def read(self, **settings):
        self.upstream = self.serve(TreeServer(self.tree, "public, max-age=0"))
        reader = self.agent("reader", [self.upstream.url], asks_origins=False, **SETTINGS, **settings)
        reader.drop("all", [self.origin.address(number) for number in range(100)])
        return reader.start()

    def expect_refused(self, reader, code):
        """It says so, and keeps what it has."""
        until(lambda: f"{code}, not {reader.states()}", lambda: ("refused", code) in reader.states(), 30)
        self.assertEqual(len(reader.numbers()), self.had)

    def expect_all(self, reader):
        """It has what was published, all of it by way of the upstream."""
        until(lambda: f"{self.count} icons, of which {reader.ready()} are there: {reader.upstreams()}",
              lambda: reader.ready() >= self.count, 30)
        self.assertEqual(reader.numbers(), set(range(self.count)))
        self.had = self.count
        until(lambda: f"a fresh upstream, not {reader.states()}",
              lambda: [state for state, _ in reader.states()] == ["fresh"], 30)
        self.assertEqual(set(self.origin.icons().values()), {1})

    def test_an_older_manifest_is_refused_and_a_newer_one_accepted(self):
        self.publish()
        old = self.folder / "old"
        shutil.copytree(self.tree, old)
        self.publish()
        reader = self.read()
        self.expect_all(reader)
        self.upstream.tree = old
        self.expect_refused(reader, "manifest-rollback")
        # Over a restart as well.
        reader.stop()
        reader.start()
        self.expect_refused(reader, "manifest-rollback")
        self.upstream.tree = self.tree
        self.publish()
        self.expect_all(reader)

    def test_a_publisher_that_was_purged_and_starts_anew_is_believed(self):
        self.publish()
        self.publish()
        reader = self.read()
        self.expect_all(reader)
        generation = self.seeder.manifest()["generation"]
        self.seeder.command("purge", "--yes")
        self.seeder.await_ready(self.count, 30)
        self.origin.forget()
        self.publish()
        self.note(f"generation {self.seeder.manifest()['generation']} after {generation}")
        reader.await_ready(self.count, 30)
        self.assertEqual(reader.numbers(), set(range(self.count)))
        # A new tree, and new state.
        believed = self.published()
        self.seeder.stop()
        for name in ("cache", "state"):
            shutil.rmtree(self.seeder.folder / name)
        shutil.rmtree(self.tree)
        self.seeder.start()
        self.seeder.await_ready(self.count, 30)
        self.origin.forget()
        # Of two manifests of one second, the one with the higher generation is newer.
        self.pause_until(believed + 1)
        self.publish()
        self.expect_all(reader)

    def test_a_manifest_of_a_clock_that_is_ahead_is_refused(self):
        self.publish()
        reader = self.read()
        self.expect_all(reader)
        ahead = self.folder / "ahead"
        self.add()
        self.seeder.export(ahead)
        manifest = (ahead / "manifest.json").read_text()
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 2 * 3600))
        (ahead / "manifest.json").write_text(re.sub(r'("published": ?")[^"]+', rf"\g<1>{moment}", manifest))
        self.upstream.tree = ahead
        self.expect_refused(reader, "manifest-ahead")
        self.upstream.tree = self.tree
        self.publish()
        self.expect_all(reader)

    def test_a_publisher_whose_clock_was_ahead_is_believed_again_once_it_is_right(self):
        if not program("faketime"):
            self.skipTest("not installed: faketime")
        self.seeder.stop()
        self.seeder.around = ("faketime", "-f", "+40m")
        self.seeder.start()
        self.publish()
        self.assertGreater(self.published(), time.time() + 1800)
        reader = self.read()
        self.expect_all(reader)
        self.seeder.stop()
        self.seeder.around = ()
        self.seeder.start()
        self.publish()
        self.expect_all(reader)

    def test_a_damaged_list_is_refused_and_nothing_is_lost(self):
        self.publish()
        reader = self.read()
        self.expect_all(reader)
        self.upstream.break_down("flip", lambda path: path.startswith("/lists/"))
        self.publish()
        self.expect_refused(reader, "manifest-incomplete")
        self.upstream.heal()
        self.expect_all(reader)

    def published(self):
        """When the manifest says that it was published."""
        text = json.loads((self.tree / "manifest.json").read_text())["published"]
        return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))

    # Signatures.

    def key(self, name):
        """The option that signs with a new key, and its public key."""
        made = execute(self.programs / "syncagent", "key", "generate", "--output", self.folder / name)
        return ("--sign", self.folder / f"{name}.key"), made.out.split()[-1]

    def test_a_key_is_rotated(self):
        (old, old_line), (new, new_line) = self.key("old"), self.key("new")
        self.publish(*old)
        reader = self.read(publicKeys=[old_line, new_line])
        self.expect_all(reader)
        self.publish(*new)
        self.expect_all(reader)
        reader.stop()
        reader.configure(publicKeys=[old_line])
        reader.start()
        self.publish(*new)
        self.expect_refused(reader, "manifest-signature")
        reader.stop()
        reader.configure(publicKeys=[new_line])
        reader.start()
        self.expect_all(reader)

    def test_a_signature_that_is_late_or_missing_delays_and_loses_nothing(self):
        sign, line = self.key("key")
        self.publish(*sign)
        reader = self.read(publicKeys=[line])
        self.expect_all(reader)
        for status in ("403", "404"):
            self.upstream.break_down(status, lambda path: path.startswith("/signatures/"))
            self.publish(*sign)
            self.expect_refused(reader, "manifest-signature")
            self.upstream.heal()
            self.expect_all(reader)

    def test_other_programs_verify_the_signature(self):
        if missing := [name for name in ("minisign", "signify-openbsd") if not program(name)]:
            self.skipTest(f"not installed: {', '.join(missing)}")
        sign, _ = self.key("key")
        self.publish(*sign)
        (signature,) = (self.tree / "signatures").glob("*.minisig")
        files = ("-p", self.folder / "key.pub", "-x", signature, "-m", self.tree / "manifest.json")
        execute("minisign", "-V", *files)
        execute("signify-openbsd", "-V", *files)


class Killed(PublisherTest):
    """`export` is killed in the middle, again and again: what is there is always complete, and never older."""

    def kill_again_and_again(self, target, environment, check):
        chosen = random.Random(1)
        killed = generation = 0
        end = time.monotonic() + (8 if self.sizes.quick else 60)
        longest = 1.0
        command = [self.programs / "syncagent", "export", *target, *self.seeder.options]
        while time.monotonic() < end:
            self.add()
            start = time.monotonic()
            one = Process("export", command, self.folder / "export.log", env=environment)
            try:
                one.process.wait(chosen.uniform(0, longest))
                # It may have ended by itself: then the next ones are killed sooner.
                longest = max(0.05, time.monotonic() - start)
            except subprocess.TimeoutExpired:
                killed += 1
            one.kill()
            # What it started ends with it, or goes on for a moment.
            seen = check()
            self.assertGreaterEqual(seen, generation)
            generation = seen
        execute(*command, env=environment, limit=120)
        self.assertEqual(check(), self.seeder.manifest()["generation"])
        self.note(f"killed {killed} times, with {self.count} icons")

    def test_in_a_folder(self):
        def check():
            if not (self.tree / "manifest.json").exists():
                return 0
            verified(self.tree)
            return json.loads((self.tree / "manifest.json").read_text())["generation"]

        self.kill_again_and_again((self.tree,), None, check)

    def test_in_a_bucket(self):
        bucket = self.start(SeaweedFS)
        copy = self.folder / "copy"

        def check():
            shutil.rmtree(copy, ignore_errors=True)
            copy.mkdir()
            # The manifest first, as a reader does.
            for part in ("manifest.json", "lists", "icons"):
                execute("rclone", "copy" if part != "manifest.json" else "copyto", f"{bucket.remote}/{part}",
                        copy / part, env=bucket.variables(), check=False)
            if not (copy / "manifest.json").exists():
                return 0
            verified(copy)
            return json.loads((copy / "manifest.json").read_text())["generation"]

        self.kill_again_and_again(("--rclone", bucket.remote), bucket.variables(), check)

