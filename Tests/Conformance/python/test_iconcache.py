#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the Python reader: `python3 Tests/Conformance/python/test_iconcache.py`."""

import asyncio
import contextlib
import copy
import ctypes
import dataclasses
import datetime
import errno
import fcntl
import functools
import gc
import importlib.metadata
import importlib.util
import json
import operator
import os
import pickle
import random
import re
import select
import selectors
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import typing
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
PROJECT = os.path.join(HERE, "../../..")
PACKAGE = os.path.join(PROJECT, "Sources/PythonIconCache")
sys.path[:0] = [os.path.join(HERE, ".."), PACKAGE]

from library import library

if LIBRARY := library():
    os.environ["ICONCACHE_LIBRARY"] = LIBRARY
import iconcache
from cache import Cache, digest, document_text, failed, image_path, pending, ready, rendered, size_path, url_path
from iconcache import (
    Change, DamagedError, IconCache, IconCacheError, NoCacheError, Renditions, UnknownFormatError, UnreadableError)
from iconcache import _entries, _library

MAIL, MAPS, GONE = (f"https://example.com/{name}.png" for name in ("mail", "maps", "gone"))
LIST = "apps.plist"


class CacheTest(unittest.TestCase):
    """Has a cache folder that is removed afterwards."""

    def setUp(self):
        work = tempfile.TemporaryDirectory()
        self.addCleanup(work.cleanup)
        self.work = os.path.realpath(work.name)
        self.folder = os.path.join(self.work, "cache")
        self.published = Cache(self.folder)
        self.cache = IconCache(self.folder)

    def at(self, name):
        return os.path.join(self.folder, name)

    def publish_one(self):
        """Publishes a list with a ready, a pending and a failed icon."""
        self.published.publish(
            {LIST: [ready(MAIL, "mail", name="Mail"), pending(MAPS, name="Maps"), failed(GONE)]}, [("mail", MAIL)]
        )

    def list_digest(self):
        with self.cache.snapshot() as snapshot:
            return snapshot.lists[0].sha256

    def publish_text(self, text):
        """Publishes a document with any text, and returns its path."""
        self.published.publish_document(text)
        return self.at(f"lists/{digest(text)}.json")


class FolderTests(unittest.TestCase):
    def test_relative_folder_is_made_absolute_at_once(self):
        with tempfile.TemporaryDirectory() as work:
            here = os.getcwd()
            os.chdir(work)
            try:
                cache, now = IconCache("a/cache"), os.getcwd()
            finally:
                os.chdir(here)
        self.assertEqual(cache.folder, Path(now, "a/cache"))
        self.assertEqual(IconCache(Path("/x/y")).folder, Path("/x/y"))

    def test_default_folder(self):
        system = "/var/cache/syncagent"
        with tempfile.TemporaryDirectory() as home:
            for environment, own in (
                ({"XDG_CACHE_HOME": f"{home}/x", "HOME": home}, f"{home}/x/syncagent"),
                ({"XDG_CACHE_HOME": "", "HOME": home}, f"{home}/.cache/syncagent"),
                ({"XDG_CACHE_HOME": "x", "HOME": home}, f"{home}/.cache/syncagent"),
                ({"HOME": "h"}, system), ({}, system),
            ):
                for is_there in (False, True):
                    if is_there and own != system:
                        os.makedirs(own, exist_ok=True)
                    wanted = system if os.path.exists(system) and not os.path.exists(own) else own
                    with self.subTest(environment=environment, is_there=is_there):
                        with mock.patch.dict(os.environ, environment, clear=True):
                            self.assertEqual(str(IconCache().folder), wanted)

    def test_folders_are_values(self):
        cache = IconCache("/x//y/")
        self.assertEqual(str(cache.folder), "/x/y")
        for other in (copy.deepcopy(cache), pickle.loads(pickle.dumps(cache)), IconCache(Path("/x/y"))):
            self.assertEqual((other, hash(other)), (cache, hash(cache)))
        self.assertNotEqual(cache, IconCache("/x"))


class ImageTests(CacheTest):
    def test_image_of_a_url(self):
        self.publish_one()
        self.assertEqual(self.cache.path(MAIL), Path(self.at(url_path(MAIL))))
        with self.cache.open_image(MAIL) as file:
            self.assertEqual(file.read(), b"mail")
        for url in (MAPS, "", "\ud800", "a\0b"):
            with self.subTest(url=url):
                self.assertIsNone(self.cache.path(url))
                self.assertIsNone(self.cache.open_image(url))

    def test_links_out_of_the_folder_are_not_followed(self):
        self.publish_one()
        self.published.image("maps")
        secret = os.path.join(self.work, "secret")
        Path(secret).write_text("secret")
        name = self.at(url_path(MAIL))
        inside = os.path.relpath(self.at(image_path(digest("maps"))), os.path.dirname(name))
        for target, is_inside in ((secret, False), ("../../../secret", False), (inside, True)):
            os.unlink(name)
            os.symlink(target, name)
            with self.subTest(target=target):
                if is_inside:
                    with self.cache.open_image(MAIL) as file:
                        self.assertEqual(file.read(), b"maps")
                else:
                    self.assertRaisesRegex(DamagedError, "leads out of the cache folder", self.cache.open_image, MAIL)
                    self.assertRaises(DamagedError, self.cache.open_image, MAIL)

    def test_other_files_are_no_images(self):
        self.publish_one()
        path = self.at(url_path(MAIL))
        for make in (os.mkfifo, os.mkdir):
            with self.subTest(make=make.__name__):
                os.unlink(path)
                make(path)
                with self.assertRaises(DamagedError) as caught:
                    self.cache.open_image(MAIL)
                self.assertEqual((caught.exception.path, caught.exception.reason), (path, "it is not a regular file"))
                os.rmdir(path) if make == os.mkdir else os.unlink(path)
                Path(path).write_text("mail")

class RenditionTest(CacheTest):
    sizes = {"100": "mail 100", "9@2": "mail 18", "48": "mail 48", "64@2": "mail 128"}

    def publish_renditions(self):
        """Publishes a list with an icon that has these renditions, in no order, and one that has none."""
        self.published.publish(
            {LIST: [ready(MAIL, "mail", renditions=rendered(self.sizes)), ready(MAPS, "maps"), pending(GONE)]},
            [("mail", MAIL), ("maps", MAPS)])  # fmt: skip
        for size, contents in self.sizes.items():
            self.published.rendition(contents, MAIL, size)


class RenditionTests(RenditionTest):
    def test_sizes(self):
        for text, order in (
            ("8", (8, 1)), ("64", (64, 1)), ("64@2", (128, 2)), ("1024@4", (4096, 4)), ("999@3", (2997, 3)),
            *((text, None) for text in ("", "7", "1025", "064", "64@", "64@1", "64@5", "64@02", "+64", " 64", "64\n",
                                        "\u0666\u0664", "64@\u0662", "1_0", "10240", "64.0")),
        ):  # fmt: skip
            with self.subTest(text=text):
                if order:
                    self.assertEqual(_entries.size_order(text), order)
                else:
                    self.assertRaises(ValueError, _entries.size_order, text)

    def test_renditions_are_a_mapping_in_the_order_of_their_pixels(self):
        self.publish_renditions()
        mail, maps, gone = self.cache.apps(LIST)
        self.assertEqual(list(mail.renditions), ["9@2", "48", "100", "64@2"])
        self.assertEqual(len(mail.renditions), 4)
        image = mail.renditions["64@2"]
        self.assertEqual(image.path, Path(self.at(image_path(digest("mail 128")))))
        self.assertEqual((image.type, image.bytes, image.width, image.height), ("image/png", 8, 128, 96))
        self.assertEqual(dict(mail.renditions)["48"].sha256, digest("mail 48"))
        self.assertIsNone(mail.renditions.get("128"))
        self.assertTrue("48" in mail.renditions and 48 not in mail.renditions)
        for app in (maps, gone):
            self.assertFalse(app.renditions)
        self.assertIs(maps.renditions, gone.renditions)

    def test_renditions_are_values(self):
        self.publish_renditions()
        mail, again = self.cache.apps(LIST)[0], self.cache.entry(MAIL)
        self.assertEqual(mail, again)
        self.assertEqual(len({mail, again}), 1)
        for value in (copy.deepcopy(mail), pickle.loads(pickle.dumps(mail))):
            self.assertEqual(value, mail)
            self.assertEqual(list(value.renditions), list(mail.renditions))
        self.assertRaises(TypeError, operator.setitem, mail.renditions, "64", mail.image)
        self.assertRaises(AttributeError, setattr, mail.renditions, "other", 1)
        self.assertRaises(ValueError, Renditions, {"x": mail.image})
        self.assertRegex(repr(mail.renditions), r"^Renditions\({'9@2': Image\(folder=")

    def test_image_for_a_number_of_pixels(self):
        self.publish_renditions()
        mail, maps, gone = self.cache.apps(LIST)
        with self.cache.snapshot() as snapshot:
            for size, wanted in ((1, "mail 18"), (18, "mail 18"), (19, "mail 48"), (100, "mail 100"),
                                 (128, "mail 128"), (129, "mail"), (1 << 70, "mail")):
                with self.subTest(size=size):
                    with snapshot.open_image(mail.image_for(size)) as file:
                        self.assertEqual(file.read().decode(), wanted)
        self.assertIs(maps.image_for(64), maps.image)
        self.assertIsNone(gone.image_for(64))

    def test_path_and_image_of_a_url_for_a_number_of_pixels(self):
        self.publish_renditions()
        for name in ("x", "064", "64@1", "60"):
            self.published.write(f"by-size/{name}", "")
        for size, name, wanted in ((None, None, "mail"), (1, "9@2", "mail 18"), (49, "100", "mail 100"),
                                   (128, "64@2", "mail 128"), (129, None, "mail")):
            with self.subTest(size=size):
                path = size_path(MAIL, name) if name else url_path(MAIL)
                self.assertEqual(self.cache.path(MAIL, size), Path(self.at(path)))
                with self.cache.open_image(MAIL, size=size) as file:
                    self.assertEqual(file.read().decode(), wanted)
        self.assertEqual(self.cache.path(MAPS, size=64), Path(self.at(url_path(MAPS))))
        self.assertIsNone(self.cache.path(GONE, size=64))
        self.assertIsNone(self.cache.open_image(GONE, size=64))

    def test_sizes_that_cannot_be_listed(self):
        self.publish_renditions()
        shutil.rmtree(self.at("by-size"))
        self.assertEqual(self.cache.path(MAIL, 64), Path(self.at(url_path(MAIL))))
        self.published.write("by-size", "")
        self.assertEqual(self.cache.path(MAIL, 64), Path(self.at(url_path(MAIL))))

    def test_wrong_sizes(self):
        self.publish_renditions()
        mail = self.cache.apps(LIST)[0]
        path, open_image = (functools.partial(use, MAIL) for use in (self.cache.path, self.cache.open_image))
        for use in (mail.image_for, path, open_image):
            for size, kind in ((0, ValueError), (-1, ValueError), ("64", TypeError), (64.0, TypeError)):
                with self.subTest(size=size):
                    self.assertRaisesRegex(kind, "size must be", use, size)

    def test_damaged_renditions(self):
        good = document_text(LIST, [ready(MAIL, "mail", renditions=rendered({"48": "mail 48"})), pending(MAPS)])
        for old, new, is_good in (
            ("", "", True), ('"48"', '"48@2"', True), ('"48"', '"7"', False), ('"48"', '"48@1"', False),
            ('"bytes": 7', '"bytes": 7.0', True), ('"bytes": 7', '"bytes": -7', False),
            ('"bytes": 7', '"bytes": true', False), ('"bytes": 7', '"bytes": null', False),
            ('"bytes": 7, ', "", False), ('"renditions": {', '"renditions": null, "x": {', True),
            ('"renditions": {', '"renditions": 3, "x": {', False),
            ('"renditions": {', '"renditions": [], "x": {', False),
            ('"renditions": {', '"renditions": { "64": null, "x": {} }, "x": {', False),
            ('"48": { "path": "icons', '"48": { "x": [{}], "path": "icons', True),
            ('"48": { "path": "icons', '"48": { "path": "../icons', False),
        ):  # fmt: skip
            for layout in ("", "\n"):
                text = layout + good.replace(old, new, 1)
                path = self.publish_text(text)
                with self.subTest(old=old, new=new, layout=layout):
                    if is_good:
                        self.assertEqual([app.icon for app in self.cache.apps(LIST)], [MAIL, MAPS])
                        continue
                    with self.assertRaises(DamagedError) as caught:
                        self.cache.apps(LIST)
                    self.assertEqual(caught.exception.path, path)
                    self.assertRaises(DamagedError, self.cache.entry, MAIL)
        # They mean nothing in an entry without an image.
        self.publish_text(document_text(LIST, [{**pending(MAIL), "renditions": {"x": 3}}]))
        self.assertFalse(self.cache.apps(LIST)[0].renditions)

    def test_unknown_status_may_be_of_a_newer_version(self):
        self.publish_text(document_text(LIST, [{**pending(MAIL), "status": "stalled"}]))
        with self.assertRaises(DamagedError) as caught:
            self.cache.apps(LIST)
        self.assertEqual(
            caught.exception.reason, "an entry has an unknown status, which a newer version may have written")


class ArticleTests(RenditionTest):
    """The examples of the article OtherLanguages that know renditions, as they are printed there."""

    def setUp(self):
        super().setUp()
        self.published.remove()
        self.folder = os.path.join(self.work, "syncagent")
        self.published = Cache(self.folder)
        self.cache = IconCache(self.folder)
        self.sizes = {"64": "mail 64", "64@2": "mail 128"}

    def example(self, language, index):
        path = os.path.join(PROJECT, "Sources/IconCache/IconCache.docc/OtherLanguages.md")
        with open(path) as file:
            return re.findall(rf"^```{language}\n(.*?)^```$", file.read(), re.DOTALL | re.MULTILINE)[index]

    def run_example(self, *command, code=0):
        environment = {**os.environ, "XDG_CACHE_HOME": self.work, "PYTHONPATH": PACKAGE, "PYTHONDONTWRITEBYTECODE": "1"}
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        self.assertEqual((run.returncode, run.stderr), (code, ""))
        return run.stdout

    def test_shell(self):
        example = self.example("sh", 3)
        for shell in filter(shutil.which, ("sh", "bash", "dash")):
            with self.subTest(shell=shell):
                self.published.make()
                self.assertEqual(self.run_example(shell, "-c", example, code=1), "")
                self.publish_renditions()
                for name in ("x", "164", "@2", "64\n"):
                    self.published.write(f"by-size/{name}", "")
                self.assertEqual(self.run_example(shell, "-c", example), self.at(size_path(MAIL, "64")) + "\n")
                os.unlink(self.at(size_path(MAIL, "64")))
                self.assertEqual(self.run_example(shell, "-c", example), self.at(size_path(MAIL, "64@2")) + "\n")
                shutil.rmtree(self.at("by-size"))
                self.assertEqual(self.run_example(shell, "-c", example), self.at(url_path(MAIL)) + "\n")
                self.published.remove()

    @unittest.skipUnless(shutil.which("jq"), "jq is not installed")
    def test_check_of_everything(self):
        self.publish_renditions()
        example = self.example("sh", 2)
        self.assertEqual(self.run_example("bash", "-c", example), "")
        name = image_path(digest("mail 128"))
        Path(self.at(name)).write_text("mail 129")
        run = subprocess.run(
            ["bash", "-c", example], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, "XDG_CACHE_HOME": self.work})
        self.assertEqual((run.returncode, run.stdout.decode()), (1, f"{name}: FAILED\n"))

    def expect_of_the_libraries(self, found):
        first, second = (self.at(image_path(digest(contents))) for contents in ("mail 64", "maps"))
        self.assertEqual(found, f"{self.at(size_path(MAIL, '64'))}\n{MAIL}\t{first}\n{MAPS}\t{second}\n")

    def test_python(self):
        self.publish_renditions()
        self.expect_of_the_libraries(self.run_example(sys.executable, "-c", self.example("python", 2)))

    def test_changes(self):
        self.publish_renditions()
        found = self.run_example(sys.executable, "-c", self.example("python", 3))
        self.assertEqual(found, f"list_added\t{LIST}\nicon_ready\t{MAIL}\nicon_ready\t{MAPS}\n")

    @unittest.skipUnless(shutil.which("cc"), "cc is not installed")
    def test_c(self):
        self.publish_renditions()
        source, program = os.path.join(self.work, "a.c"), os.path.join(self.work, "a")
        Path(source).write_text(self.example("c", 3))
        library = os.path.join(PROJECT, "Sources/LibIconCache")
        self.run_example(
            "cc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-I", library, source,
            *(str(path) for path in Path(library).glob("*.c")), "-o", program)
        self.expect_of_the_libraries(self.run_example(program))


class ArgumentTests(CacheTest):
    def test_folders(self):
        self.assertRaisesRegex(ValueError, "no name", IconCache, "")
        self.assertRaisesRegex(ValueError, "null", IconCache, "/x\0y")
        for folder in (b"/x", 3):
            with self.subTest(folder=folder):
                self.assertRaises(TypeError, IconCache, folder)

    def test_wrong_types(self):
        self.publish_one()
        with self.cache.snapshot() as snapshot:
            for use in (self.cache.path, self.cache.open_image, self.cache.entry, snapshot.entry):
                for value in (None, 3, MAIL.encode(), Path(MAIL)):
                    with self.subTest(use=use, value=value):
                        self.assertRaisesRegex(TypeError, f"url must be str, not {type(value).__name__}", use, value)
            for use in (
                self.cache.apps, self.cache.apps_named, snapshot.get, snapshot.__getitem__, snapshot.apps_named,
            ):
                with self.subTest(use=use):
                    self.assertRaisesRegex(TypeError, "name must be str, not NoneType", use, None)
            for value in (None, MAIL, snapshot.lists[0]):
                with self.subTest(value=value):
                    self.assertRaisesRegex(TypeError, "an Image, can be opened", snapshot.open_image, value)

    def test_help_names_every_field(self):
        for kind in (iconcache.App, iconcache.Image, iconcache.ListSummary, Change):
            for name in (field.name for field in dataclasses.fields(kind)):
                with self.subTest(kind=kind, name=name):
                    self.assertIn(f"`{name}`", kind.__doc__)
        for name in typing.get_args(iconcache.ChangeKind):
            self.assertIn(f'"{name}"', Change.__doc__)


class SnapshotTests(CacheTest):
    def can_lock(self, name="generations/1.json"):
        """Whether another process gets the lock by which the agent evicts a generation."""
        return subprocess.run(["flock", "-n", "-x", self.at(name), "true"]).returncode == 0

    @unittest.skipUnless(shutil.which("flock"), "flock is not installed")
    def test_lease_is_seen_by_other_processes_until_the_end(self):
        self.publish_one()
        with IconCache.open(self.folder) as snapshot:
            self.assertTrue(snapshot.leased)
            self.assertFalse(self.can_lock())
            self.published.publish({})
            self.assertEqual(snapshot.generation, 1)
            self.assertEqual(len(snapshot[LIST]), 3)
            self.assertFalse(self.can_lock())
        self.assertTrue(self.can_lock())
        self.assertFalse(snapshot.leased)
        snapshot.close()
        for use in (lambda: snapshot[LIST], lambda: snapshot.entry(MAIL)):
            self.assertRaisesRegex(ValueError, "closed", use)

    def test_no_lease_if_another_program_has_an_exclusive_lock(self):
        self.publish_one()
        with open(self.at("manifest.json"), "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            with self.cache.snapshot() as snapshot:
                self.assertFalse(snapshot.leased)
                self.assertEqual(len(snapshot[LIST]), 3)

    def test_mapping(self):
        self.published.publish({"b": [], "é": [], "a": [pending(MAIL)], "\U0001f600": [], "\uffee": []})
        with self.cache.snapshot() as snapshot:
            self.assertEqual(list(snapshot), ["a", "b", "é", "\uffee", "\U0001f600"])
            self.assertEqual(len(snapshot), 5)
            self.assertTrue("a" in snapshot and "c" not in snapshot and None not in snapshot)
            self.assertIsNone(snapshot.get("c"))
            self.assertRaises(KeyError, snapshot.__getitem__, "c")
            self.assertEqual({name: len(apps) for name, apps in snapshot.items()}["a"], 1)
            self.assertEqual([summary.name for summary in snapshot.lists], list(snapshot))
            first = snapshot.lists[0]
            self.assertEqual((first.apps, first.ready, first.pending, first.failed), (1, 0, 1, 0))
            self.assertEqual(snapshot.cache, self.cache)
            self.assertIn("generation 1", repr(snapshot))
            self.assertEqual(snapshot, snapshot)
            with self.cache.snapshot() as other:
                self.assertNotEqual(snapshot, other)

    def test_entries(self):
        self.publish_one()
        with self.cache.snapshot() as snapshot:
            apps = snapshot[LIST]
            self.assertEqual(apps.name, LIST)
            self.assertEqual([app.status for app in apps], ["ready", "pending", "failed"])
            self.assertEqual([app.error for app in apps], [None, None, "http-404"])
            self.assertEqual((apps[-1], apps[1:]), (list(apps)[2], list(apps)[1:]))
            self.assertRaises(IndexError, apps.__getitem__, 3)
            mail = apps.find("Mail")
            self.assertIs(mail, apps[0])
            self.assertIsNone(apps.find("mail"))
            self.assertEqual(mail.path, Path(self.at(image_path(digest("mail")))))
            self.assertEqual(mail.image.path, mail.path)
            self.assertEqual((mail.image.bytes, mail.image.width, mail.image.height), (4, 64, 48))
            self.assertEqual((mail.image.type, mail.image.sha256), ("image/png", digest("mail")))
            self.assertIsNone(apps[1].path)
            for of in (mail, mail.image):
                with snapshot.open_image(of) as file:
                    self.assertEqual(file.read(), b"mail")
            self.assertRaises(ValueError, snapshot.open_image, apps[1])
            os.unlink(mail.path)
            self.assertRaises(UnreadableError, snapshot.open_image, mail)

    def test_entries_are_values(self):
        self.publish_one()
        mail = self.cache.apps(LIST)[0]
        self.assertEqual(mail, self.cache.apps(LIST)[0])
        self.assertEqual(len({mail, self.cache.apps(LIST)[0], self.cache.apps(LIST)[1]}), 2)
        self.assertEqual(copy.deepcopy(mail), mail)
        self.assertEqual(pickle.loads(pickle.dumps(mail)), mail)
        self.assertIn("mail.png", repr(mail))
        apps = self.cache.apps(LIST)
        for again in (copy.copy(apps), copy.deepcopy(apps), pickle.loads(pickle.dumps(apps))):
            self.assertEqual((again, again.name), (apps, LIST))
        for name in ("name", "new"):
            with self.subTest(name=name), self.assertRaises((AttributeError, TypeError)):
                setattr(mail, name, "x")

    def test_previous_images(self):
        since = "2026-11-20T01:02:03Z"
        self.published.publish(
            {LIST: [
                ready(MAIL, "mail", previous=MAPS, previousSince=since, error="http-503", expected=digest("x")),
                ready(MAPS, "mail", previousSince=since, error="http-503", expected="x"),
                ready(GONE, "mail", previous=MAPS, previousSince="2026-02-29T01:02:03Z"),
                pending(GONE, error="http-503", previous=MAPS)]},
            [("mail", None)])  # fmt: skip
        found = [(app.previous, app.previous_since, app.error, app.expected) for app in self.cache.apps(LIST)]
        none = (None, None, None, None)
        self.assertEqual(found, [(MAPS, since, "http-503", digest("x")), none, (MAPS, None, None, None), none])
        times = [app.previous_since_time for app in self.cache.apps(LIST)]
        expected = datetime.datetime(2026, 11, 20, 1, 2, 3, tzinfo=datetime.timezone.utc)
        self.assertEqual(times, [expected, None, None, None])
        app = dataclasses.replace(self.cache.apps(LIST)[0], previous_since="0000-01-01T00:00:00Z")
        self.assertIsNone(app.previous_since_time)

    def test_entry_of_a_url(self):
        own, old = ready(MAIL, "mail"), ready(MAIL, "old", previous=MAPS)
        for first, second, wanted in (
            ([pending(MAIL)], [failed(MAIL)], ("pending", None)),
            ([failed(MAIL)], [old], ("ready", digest("old"))),
            ([old], [own], ("ready", digest("mail"))),
            ([pending(MAIL), own], [old], ("ready", digest("mail"))),
            ([old, own], [], ("ready", digest("mail"))),
            ([old, ready(MAIL, "mail", previous=GONE)], [], ("ready", digest("old"))),
            ([pending(MAPS)], [pending(MAIL, name=f'"icon": "{GONE}"')], ("pending", None)),
        ):
            self.published.publish({"b": second, "a": first})
            with self.subTest(first=first, second=second):
                app = self.cache.entry(MAIL)
                self.assertEqual((app.status, app.image and app.image.sha256), wanted)
                self.assertIsNone(self.cache.entry(GONE))
                self.assertIsNone(self.cache.entry("\ud800"))

    def test_apps_of_a_name(self):
        own, old = ready(MAIL, "mail", name="Mail"), ready(MAPS, "old", name="Mail", previous=GONE)
        self.published.publish({
            "b": [{**own, "icon": "b-own"}, {**old, "icon": "b-previous"}, pending("b", name="M\0")],
            "a": [pending("a-pending", name="Mail"), {**own, "icon": "a-own"}, pending("a", name="mail"), pending("a"),
                  failed("a-failed", name="Mail"), {**own, "icon": "a-again"}, pending("a-empty", name="")]})
        for name, wanted in (
            ("Mail", ["a-own", "a-again", "b-own", "b-previous", "a-pending", "a-failed"]), ("", ["a-empty"]),
            ("Mai", []), ("M\0", []), ("\ud800", []),
        ):
            with self.subTest(name=name), self.cache.snapshot() as snapshot:
                self.assertEqual([app.icon for app in snapshot.apps_named(name)], wanted)
                self.assertEqual(self.cache.apps_named(name), snapshot.apps_named(name))
        self.assertRaisesRegex(ValueError, "the snapshot is closed", snapshot.apps_named, "Mail")

    def test_entry_of_a_url_in_another_layout(self):
        root = json.loads(document_text(LIST, [pending(MAPS), ready(MAIL, "mail"), failed("a/\u0007\"é")]))
        for text in (json.dumps(root), json.dumps(root, indent=1), json.dumps(root).replace("/", "\\/"),
                     document_text(LIST, root["apps"]), document_text(LIST, root["apps"]).replace("/", "\\/")):
            self.publish_text(text)
            with self.subTest(text=text):
                self.assertEqual(self.cache.entry(MAIL).status, "ready")
                self.assertEqual(self.cache.entry("a/\u0007\"é").status, "failed")
                self.assertIsNone(self.cache.entry("a"))

    def test_a_document_that_vanishes_is_read_of_the_next_generation(self):
        self.publish_one()
        really, path = IconCache.snapshot, self.at(f"lists/{self.list_digest()}.json")

        def snapshot(cache):
            found = really(cache)
            if os.path.exists(path):
                self.published.publish({LIST: [failed(MAIL)]})
                os.unlink(path)
            return found

        with mock.patch.object(IconCache, "snapshot", snapshot):
            self.assertEqual([app.status for app in self.cache.apps(LIST)], ["failed"])

    def test_closed_by_another_thread_while_it_is_read(self):
        self.published.publish({LIST: [ready(f"https://example.com/{number}", "x") for number in range(5000)]})
        before = os.listdir("/proc/self/fd")
        for _ in range(20):
            snapshot = self.cache.snapshot()
            reading = threading.Thread(target=lambda: contextlib.suppress(ValueError)(len)(snapshot[LIST]))
            with mock.patch("threading.excepthook"):
                reading.start()
                snapshot.close()
                reading.join()
            self.assertRaisesRegex(ValueError, "closed", snapshot.__getitem__, LIST)
        self.assertEqual(os.listdir("/proc/self/fd"), before)

    def test_an_image_of_a_copy(self):
        self.publish_one()
        image = dataclasses.replace(self.cache.entry(MAIL).image, folder="/elsewhere")
        with self.cache.snapshot() as snapshot, snapshot.open_image(image) as file:
            self.assertEqual(file.read(), b"mail")
            for wrong in ("../../../secret", "png\0"):
                with self.assertRaises((ValueError, IconCacheError)):
                    snapshot.open_image(dataclasses.replace(image, suffix=wrong))

    def test_no_descriptor_is_lost(self):
        self.publish_one()

        def use():
            self.cache.apps(LIST)
            self.cache.entry(MAIL)
            self.cache.open_image(MAIL).close()
            self.cache.open_image(MAPS)

        use()
        before = os.listdir("/proc/self/fd")
        for _ in range(50):
            use()
        self.published.put_manifest("{")
        for _ in range(50):
            self.assertRaises(DamagedError, self.cache.snapshot)
        self.assertEqual(os.listdir("/proc/self/fd"), before)


class ErrorTests(CacheTest):
    def test_no_cache(self):
        for use in (self.cache.snapshot, lambda: self.cache.path(MAIL), lambda: self.cache.open_image(MAIL)):
            for folder in (self.folder, os.path.join(self.work, "none")):
                self.cache.__init__(folder)
                with self.assertRaises(NoCacheError) as caught:
                    use()
                self.assertEqual(
                    str(caught.exception),
                    f"There is no icon cache at {folder}: start syncagent, or name the cache folder it uses.")

    def test_manifest_that_is_missing(self):
        self.publish_one()
        self.publish_one()
        os.unlink(self.at("manifest.json"))
        with self.assertRaises(DamagedError) as caught:
            self.cache.snapshot()
        self.assertEqual(
            str(caught.exception),
            f"{self.at('manifest.json')} is damaged: it is missing, although generation 2 is there. "
            "Restart syncagent: it goes back to the newest good generation.")

    def test_unreadable(self):
        self.publish_one()
        os.unlink(self.at("manifest.json"))
        os.symlink("manifest.json", self.at("manifest.json"))
        with self.assertRaises(UnreadableError) as caught:
            self.cache.snapshot()
        self.assertEqual(caught.exception.errno, errno.ELOOP)
        text = f"Cannot read {self.at('manifest.json')}: {os.strerror(errno.ELOOP)}."
        self.assertEqual(str(caught.exception), text)

    def test_unknown_format(self):
        path = self.publish_text('{ "format": 2 }')
        with self.assertRaises(UnknownFormatError) as caught:
            self.cache.apps(LIST)
        self.assertEqual((caught.exception.path, caught.exception.format), (path, 2))
        self.assertEqual(
            str(caught.exception),
            f"{path} has format 2, and libiconcache {iconcache.__version__} reads format 1: install a newer one.")

    def test_pipes_and_folders_are_damage(self):
        self.publish_one()
        for name in (f"lists/{self.list_digest()}.json", "manifest.json"):
            os.unlink(self.at(name))
            for make, remove in ((os.mkdir, os.rmdir), (os.mkfifo, os.unlink)):
                make(self.at(name))
                with self.subTest(name=name, make=make):
                    self.assertRaisesRegex(DamagedError, "it is not a regular file", self.cache.apps, LIST)
                remove(self.at(name))

    def test_files_of_absurd_length_are_damage_and_are_not_read(self):
        self.publish_one()
        for name in (f"lists/{self.list_digest()}.json", "manifest.json"):
            os.chmod(self.at(name), 0o644)
            os.truncate(self.at(name), 1 << 40)
            with self.subTest(name=name):
                self.assertRaisesRegex(DamagedError, "it is too large", self.cache.apps, LIST)

    def test_errors_are_values(self):
        for error in (NoCacheError("a"), UnreadableError("a", 2), DamagedError("a", "b"), UnknownFormatError("a", 2)):
            with self.subTest(error=error):
                self.assertIsInstance(error, IconCacheError)
                again = pickle.loads(pickle.dumps(error))
                self.assertEqual((str(again), vars(again)), (str(error), vars(error)))

    def test_errors_of_the_system_are_those_of_python(self):
        for error, kind, code in ((NoCacheError("a"), FileNotFoundError, 2), (UnreadableError("a", 13), OSError, 13)):
            with self.subTest(error=error):
                self.assertIsInstance(error, kind)
                self.assertEqual((error.errno, error.filename, error.strerror), (code, "a", os.strerror(code)))
        for name in ("NoCache", "Unreadable", "Damaged", "UnknownFormat"):
            self.assertIs(getattr(iconcache, name), getattr(iconcache, name + "Error"))

    def test_paths_of_errors(self):
        for name in ("a is damaged: b", "Cannot read x: y", "a\x1b\nb", "\udcff\xe9", "x" * 250 + "/" + "y" * 250):
            published = Cache(os.path.join(self.work, name))
            cache = IconCache(published.folder)
            with self.subTest(name=name):
                self.assertRaisesRegex(NoCacheError, "There is no icon cache at ", cache.snapshot)
                published.publish_document("{")
                path = os.path.join(published.folder, "lists", digest("{") + ".json")
                with self.assertRaises(DamagedError) as caught:
                    cache.apps(LIST)
                found = caught.exception.path, caught.exception.reason
                self.assertEqual(found, (path, "it is not JSON of this format"))
                os.unlink(path)
                with self.assertRaises(UnreadableError) as caught:
                    cache.apps(LIST)
                self.assertEqual((caught.exception.path, caught.exception.errno), (path, errno.ENOENT))
                published.put_manifest('{"format": 7}')
                with self.assertRaises(UnknownFormatError) as caught:
                    cache.snapshot()
                self.assertEqual((caught.exception.path, caught.exception.format), (published.at("manifest.json"), 7))


class StrictnessTests(CacheTest):
    good = document_text(LIST, [ready(MAIL, "mail"), pending(MAPS)])

    def check(self, text, is_good):
        path = self.publish_text(text)
        if is_good:
            return self.assertEqual([app.icon for app in self.cache.apps(LIST)], [MAIL, MAPS])
        with self.assertRaises(DamagedError) as caught:
            self.cache.apps(LIST)
        self.assertEqual(caught.exception.path, path)

    def test_documents_with_one_change(self):
        depth = 512 - 3
        for old, new, is_good in (
            ('"bytes": 4', '"bytes": 4.0', True), ('"bytes": 4', '"bytes": 4e0', True),
            ('"bytes": 4', '"bytes": 4.5', False), ('"bytes": 4', '"bytes": true', False),
            ('"bytes": 4', '"bytes": "4"', False), ('"bytes": 4', '"bytes": -4', False),
            ('"bytes": 4', '"bytes": 04', False), ('"bytes": 4', '"bytes": NaN', False),
            ('"bytes": 4', '"bytes": Infinity', False), ('"bytes": 4', '"bytes": 1e400', False),
            ('"bytes": 4', '"bytes": 9223372036854775807', True),
            ('"bytes": 4', '"bytes": 9223372036854775808', False),
            ('"bytes": 4', f'"bytes": {"9" * 5_000}', False),
            ('"bytes": 4', f'"bytes": 4, "x": {"9" * 5_000}', True),
            ('"bytes": 4', '"bytes": 4, "x": NaN', False), ('"bytes": 4', '"bytes": 4, "x": 1e400', True),
            ('"bytes": 4', '"bytes": 4, "bytes": "x"', True), ('"bytes": 4', '"bytes": "x", "bytes": 4', False),
            ('"width": 64', '"width": null', False), ('"width": 64, ', "", False),
            ('"status": "pending"', '"status": "pending", "width": null, "error": null', True),
            ('"status": "pending"', '"status": "pending", "width": "64"', False),
            ('"status": "pending"', '"status": "pending", "width": -64, "bytes": -4.0', True),
            ('"status": "pending"', '"status": "pending", "width": -9223372036854775808', True),
            ('"status": "pending"', '"status": "pending", "width": -9223372036854775809', False),
            ('"status": "pending"', '"status": "pending", "width": 9223372036854775808', False),
            ('"status": "pending"', '"status": "pending", "name": 3', False),
            ('"status": "pending"', '"status": "pending", "expected": "x"', True),
            ('"status": "pending"', '"status": "failed"', False), ('"status": "pending"', '"status": "x"', False),
            ('"status": "pending"', '"status": "pending", "x": "\\ud83d"', True),
            ('"status": "pending"', '"status": "pending", "\\ud83d": 1', False),
            ('"status": "pending"', '"status": "pending", "name": "\\ud83d"', False),
            ('"status": "pending"', '"status": "pending", "name": "\\ud83d\\ude00"', True),
            ('"status": "pending"', '"status": "pending", "x": "\t"', False),
            ('"status": "pending"', '"status": "pending",', False),
            ('"status": "pending"', f'"status": "pending", "x": {"[" * depth}{"]" * depth}', True),
            ('"status": "pending"', f'"status": "pending", "x": [{"[" * depth}{"]" * depth}]', False),
            ('"status": "pending"', f'"status": "pending", "x": "{"[" * 1000}"', True),
            ('"status": "pending"', f'"status": "pending", "x": {"[" * 513}', False),
            ('"status": "pending"', '"status": "pending", "x": "\\"[{"', True),
            (' },\n  {', ' }\n  {', False), (' },\n  {', ' },\n,  {', False), ('\n] }\n', ',\n] }\n', False),
            ('\n] }\n', '\n] }\n{}', False), ('\n] }\n', '\n], "x": [\n] }\n', True),
            ('"source"', '"apps": {}, "source"', False),
            ('"bytes": 183', '"bytes": -183', False), (":50Z", ":60Z", False), ("2026-11-21", "2026-11-31", False),
            ("2026-11-21", "0000-02-29", True), ("{ ", "\ufeff{ ", False),
        ):  # fmt: skip
            text = self.good.replace(old, new, 1)
            with self.subTest(old=old, new=new[:100]):
                self.assertNotEqual(text, self.good)
                if new.startswith("\ufeff"):
                    self.check(text, True)
                    continue
                self.check(text, is_good)
                # The same in another layout.
                self.check("\n" + text, is_good)

    def test_other_documents(self):
        for text in ("", "[]", "null", "{}", '{ "format": true }', '{ "format": "1" }', self.good + self.good,
                     self.good[:-3], self.good.encode("utf-16"), self.good.encode().replace(b"mail.", b"\xff."),
                     self.good.encode().replace(b"mail.", b"\xed\xa0\x80."), b"\0" + self.good.encode()):
            with self.subTest(text=text[:40]):
                self.check(text, False)

    def test_damaged_bytes_are_noticed_by_their_digest(self):
        path = self.publish_text(self.good)
        Path(path).write_text(self.good.replace("mail.png", "evil.png"))
        self.assertRaisesRegex(DamagedError, "its digest differs", self.cache.apps, LIST)
        self.assertRaisesRegex(DamagedError, "its digest differs", self.cache.entry, MAIL)

    def test_document_of_another_list(self):
        self.published.publish_document(self.good, name="other.plist")
        self.assertRaisesRegex(DamagedError, "another list", self.cache.apps, "other.plist")

    def test_manifests(self):
        self.publish_one()
        good = Path(self.at("manifest.json")).read_text()
        sha256 = self.list_digest()
        for old, new, is_good in (
            ('"generation": 1', '"generation": 9007199254740992', True),
            ('"generation": 1', '"generation": 9007199254740993', False),
            ('"generation": 1', '"generation": 1.0', True), ('"generation": 1', '"generation": -1', False),
            ('"generation": 1', '"generation": true', False), ('"format": 1', '"format": true', False),
            ('"apps": 3', '"apps": -3', False), ('"apps": 3', '"apps": 3, "private": 1', False),
            ('"apps": 3', '"apps": 3, "private": true', True), ('"apps": 3', '"apps": null', False),
            (f'"document": "lists/{sha256}.json", ', "", True), (f"lists/{sha256}", "../secret", False),
            (f"lists/{sha256}", f"/lists/{sha256}", False), (f'"sha256": "{sha256}"', '"sha256": "x"', False),
            ("{ ", f'{{ "x": {"[" * 511}{"]" * 511}, ', True), ("{ ", f'{{ "x": {"[" * 512}{"]" * 512}, ', False),
            ("} }\n", "}", False), ("{ ", '{ "lists": [], ', False),
        ):  # fmt: skip
            text = good.replace(old, new, 1)
            self.published.put_manifest(text)
            with self.subTest(old=old, new=new[:100]):
                self.assertNotEqual(text, good)
                if is_good:
                    with self.cache.snapshot() as snapshot:
                        self.assertEqual(list(snapshot), [LIST])
                else:
                    self.assertRaises(DamagedError, self.cache.snapshot)


class ChangesTests(CacheTest):
    """Changes in asyncio."""

    def run_async(self, test):
        asyncio.run(asyncio.wait_for(test(), 60))

    async def expect(self, changes, *wanted):
        for change in wanted:
            found = await changes.__anext__()
            sha256 = found.image and found.image.sha256
            self.assertEqual((found.kind, found.list or found.url, sha256), change)

    async def follow(self):
        """Everything at first, then what is different."""
        self.publish_one()
        async with contextlib.AsyncExitStack() as stack:
            changes = self.cache.changes()
            stack.push_async_callback(changes.aclose)
            await self.expect(changes, ("list_added", LIST, None), ("icon_ready", MAIL, digest("mail")))
            self.published.publish({LIST: [ready(MAIL, "mail"), ready(MAPS, "maps")], "b": []}, [("maps", None)])
            await self.expect(
                changes, ("list_changed", LIST, None), ("list_added", "b", None), ("icon_ready", MAPS, digest("maps")))
            self.published.publish({LIST: [ready(MAIL, "new")], "c": [ready(MAPS, "maps")]}, [("new", None)])
            await self.expect(
                changes, ("list_removed", "b", None), ("list_changed", LIST, None), ("list_added", "c", None),
                ("icon_replaced", MAIL, digest("new")))
            self.published.publish({})
            await self.expect(
                changes, ("list_removed", LIST, None), ("list_removed", "c", None), ("icon_gone", MAIL, None),
                ("icon_gone", MAPS, None))

    def test_changes(self):
        self.run_async(self.follow)

    def test_cache_that_appears_later_and_vanishes_for_a_while(self):
        async def test():
            self.published.remove()
            changes = self.cache.changes()
            first = asyncio.ensure_future(changes.__anext__())
            await asyncio.wait([first], timeout=0.05)
            self.assertFalse(first.done())
            self.published.make()
            self.published.publish({LIST: [ready(MAIL, "mail")]}, [("mail", None)])
            self.assertEqual(await first, Change("list_added", LIST, None, None))
            await self.expect(changes, ("icon_ready", MAIL, digest("mail")))
            self.published.remove()
            self.published.make()
            self.published.publish({LIST: [ready(MAIL, "mail")], "b": []}, [("mail", None)])
            await self.expect(changes, ("list_added", "b", None))
            await changes.aclose()

        self.run_async(test)

    def test_damage_ends_the_iteration(self):
        async def test():
            self.publish_one()
            changes = self.cache.changes()
            await self.expect(changes, ("list_added", LIST, None), ("icon_ready", MAIL, digest("mail")))
            self.published.put_manifest("{")
            with self.assertRaises(DamagedError):
                await changes.__anext__()
            with self.assertRaises(StopAsyncIteration):
                await changes.__anext__()

        self.run_async(test)

    def test_nothing_stays_open(self):
        async def use(how):
            changes = self.cache.changes()
            await changes.__anext__()
            await changes.__anext__()
            if how == "closed":
                return await changes.aclose()
            waiting = asyncio.ensure_future(changes.__anext__())
            await asyncio.wait([waiting], timeout=0.01)
            if how == "closed while it waits":
                await changes.aclose()
            else:
                waiting.cancel()
            with self.assertRaises((StopAsyncIteration, asyncio.CancelledError)):
                await waiting

        async def test():
            self.publish_one()
            await use("closed")
            before = os.listdir("/proc/self/fd")
            for how in ("closed", "closed while it waits", "cancelled and collected"):
                for _ in range(20):
                    await use(how)
                for _ in range(10):
                    await asyncio.sleep(0)
                with self.subTest(how=how):
                    self.assertEqual(os.listdir("/proc/self/fd"), before)
        self.run_async(test)

    def test_a_cancelled_wait_loses_nothing(self):
        async def test():
            self.publish_one()
            changes = self.cache.changes()
            found = []

            async def expect_at_last(*wanted):
                for _ in range(10_000):
                    try:
                        # Often too short for the reading of a document, and for inotify.
                        change = await asyncio.wait_for(changes.__anext__(), random.random() / 2000)
                        found.append((change.kind, change.list or change.url))
                    except asyncio.TimeoutError:
                        pass
                    if len(found) >= len(wanted):
                        break
                self.assertEqual(found, list(wanted))
                found.clear()

            await expect_at_last(("list_added", LIST), ("icon_ready", MAIL))
            for number in range(20):
                self.published.publish({LIST: [ready(MAIL, str(number))]}, [(str(number), None)])
                await expect_at_last(("list_changed", LIST), ("icon_replaced", MAIL))
            await changes.aclose()
            await changes.aclose()
            with self.assertRaises(StopAsyncIteration):
                await changes.__anext__()

        self.run_async(test)

    def test_a_reading_that_fails_after_a_cancelled_wait_ends_the_iteration(self):
        async def test():
            self.publish_one()
            self.published.put_manifest("{")
            changes = self.cache.changes()
            waiting = asyncio.ensure_future(changes.__anext__())
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait([waiting])
            for error in (DamagedError, StopAsyncIteration):
                with self.assertRaises(error):
                    await changes.__anext__()

        self.run_async(test)

    def test_one_task_at_a_time(self):
        async def test():
            changes = self.cache.changes()
            waiting = asyncio.ensure_future(changes.__anext__())
            await asyncio.sleep(0)
            with self.assertRaisesRegex(RuntimeError, "once for each task"):
                await changes.__anext__()
            self.publish_one()
            self.assertEqual((await waiting).list, LIST)
            await changes.aclose()

        self.run_async(test)

    def test_closed_before_it_began(self):
        async def test():
            self.publish_one()
            changes = self.cache.changes()
            await changes.aclose()
            with self.assertRaises(StopAsyncIteration):
                await changes.__anext__()

        self.run_async(test)

    def test_the_end_of_the_loop_closes_everything(self):
        self.publish_one()
        before = os.listdir("/proc/self/fd")
        changes = self.cache.changes()

        async def begin():
            await changes.__anext__()

        asyncio.run(begin())
        self.assertEqual(os.listdir("/proc/self/fd"), before)
        # Without an end of the loop's generators.
        loop = asyncio.new_event_loop()
        changes = self.cache.changes()
        loop.run_until_complete(begin())
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
        del loop, changes, begin
        gc.collect()
        self.assertEqual(os.listdir("/proc/self/fd"), before)

    def test_a_break_frees_everything_too(self):
        async def test():
            self.publish_one()
            before = len(os.listdir("/proc/self/fd"))
            async for change in self.cache.changes():
                self.assertEqual(change.kind, "list_added")
                break
            while len(os.listdir("/proc/self/fd")) > before:
                await asyncio.sleep(0)

        self.run_async(test)


class WatchTests(CacheTest):
    """Changes without asyncio."""

    def found(self, watch):
        return [(change.kind, change.list or change.url) for change in watch]

    def test_everything_at_first_then_what_differs(self):
        self.publish_one()
        with self.cache.watch(timeout=0) as watch:
            self.assertEqual(self.found(watch), [("list_added", LIST), ("icon_ready", MAIL)])
            self.assertEqual(self.found(watch), [])
            self.published.publish({LIST: [ready(MAIL, "new")], "b": []}, [("new", None)])
            watch.timeout = 20
            self.assertEqual(next(watch), Change("list_changed", LIST, None, None))
            watch.timeout = 0
            self.assertEqual(self.found(watch), [("list_added", "b"), ("icon_replaced", MAIL)])
        self.assertRaisesRegex(ValueError, "the watch is closed", next, watch)
        self.assertRaisesRegex(ValueError, "the watch is closed", watch.fileno)

    def test_it_waits_for_so_long(self):
        with self.cache.watch(timeout=0.05) as watch:
            start = time.monotonic()
            self.assertEqual(self.found(watch), [])
            self.assertGreaterEqual(time.monotonic() - start, 0.05)

    def test_it_waits_for_a_publication_of_another_thread(self):
        self.published.publish({})
        with self.cache.watch() as watch:
            self.assertEqual(watch.pending(), ([], None))
            publishing = threading.Timer(0.05, self.publish_one)
            publishing.start()
            self.assertEqual(next(watch).kind, "list_added")
            publishing.join()

    def test_closed_by_another_thread_while_it_waits(self):
        for timeout in (None, float("inf")):
            with self.subTest(timeout=timeout):
                self.published.publish({})
                watch, found = self.cache.watch(timeout), []

                def wait():
                    try:
                        next(watch)
                    except ValueError as error:
                        found.append(str(error))

                waits = threading.Event()
                really = select.poll

                def poll():
                    waits.set()
                    return really()

                with mock.patch("select.poll", poll):
                    waiting = threading.Thread(target=wait, daemon=True)
                    waiting.start()
                    self.assertTrue(waits.wait(20))
                    watch.close()
                    waiting.join(20)
                self.assertEqual(found, ["the watch is closed"])

    def test_descriptor(self):
        self.published.publish({})
        with self.cache.watch(timeout=0) as watch:
            self.assertEqual(self.found(watch), [])
            self.publish_one()
            with selectors.DefaultSelector() as selector:
                selector.register(watch, selectors.EVENT_READ)
                self.assertTrue(selector.select(20))
                self.assertEqual(len(self.found(watch)), 2)
                self.assertFalse(selector.select(0))

    def test_an_error_loses_nothing(self):
        self.publish_one()
        with self.cache.watch(timeout=0) as watch:
            self.assertEqual(next(watch).kind, "list_added")
            self.published.put_manifest("{")
            changes, error = watch.pending()
            self.assertEqual(([change.kind for change in changes], type(error)), (["icon_ready"], DamagedError))
            self.assertEqual(self.found(watch), [])
            self.published.publish({LIST: [ready(MAIL, "new")]}, [("new", None)])
            self.assertEqual(self.found(watch), [("list_changed", LIST), ("icon_replaced", MAIL)])

    def test_it_outlives_its_cache_and_frees_it(self):
        self.publish_one()
        gc.collect()
        before = os.listdir("/proc/self/fd")
        watch = IconCache(self.folder).watch(timeout=0)
        gc.collect()
        self.assertEqual(len(self.found(watch)), 2)
        # Both are collected at once.
        watch.itself = watch
        del watch
        gc.collect()
        self.assertEqual(os.listdir("/proc/self/fd"), before)


class LibraryTests(unittest.TestCase):
    """What is declared for ctypes, beside the header."""

    with open(os.path.join(PROJECT, "Sources/LibIconCache/iconcache.h")) as file:
        header = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)

    @unittest.skipUnless(shutil.which("cc"), "cc is not installed")
    def test_layout_of_structures_and_values_of_constants(self):
        names = ("error", "list", "image", "rendition", "app", "change")
        structures = {f"iconcache_{name}": getattr(_library, name.capitalize()) for name in names}
        results = ("OK", "ABSENT", "NO_CACHE", "UNREADABLE", "DAMAGED", "UNKNOWN_FORMAT", "NO_MEMORY", "INVALID")
        constants = {f"ICONCACHE_{name}": getattr(_library, name) for name in results}
        for values in (typing.get_args(iconcache.Status), typing.get_args(iconcache.ChangeKind)):
            constants.update((f"ICONCACHE_{value.upper()}", index) for index, value in enumerate(values))
        expected, lines = [], []
        for name, structure in structures.items():
            # The library allocates the others: a later one may have more members at their ends.
            if structure in (_library.Error, _library.Image):
                lines.append(f'printf("%s %zu\\n", "{name}", sizeof({name}));')
                expected.append(f"{name} {ctypes.sizeof(structure)}")
            for member, kind in structure._fields_:
                place = getattr(structure, member)
                lines.append(
                    f'printf("%s %zu %zu\\n", "{name}.{member}", offsetof({name}, {member}), '
                    f"sizeof((({name} *)0)->{member}));")
                expected.append(f"{name}.{member} {place.offset} {place.size}")
        for name, value in constants.items():
            lines.append(f'printf("%s %d\\n", "{name}", {name});')
            expected.append(f"{name} {value}")
        with tempfile.TemporaryDirectory() as work:
            source, program = os.path.join(work, "layout.c"), os.path.join(work, "layout")
            Path(source).write_text(
                "#include <iconcache.h>\n#include <stdio.h>\nint main(void) {\n" + "\n".join(lines) + "\nreturn 0; }\n")
            headers = os.path.join(PROJECT, "Sources/LibIconCache")
            subprocess.run(["cc", "-std=c11", "-I", headers, source, "-o", program], check=True)
            found = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertEqual(found.splitlines(), expected)

    def test_no_member_of_a_structure_is_missing(self):
        for name in ("error", "list", "image", "rendition", "app", "change"):
            body = re.search(rf"typedef struct iconcache_{name} {{(.*?)}} iconcache_{name};", self.header, re.DOTALL)[1]
            members = re.findall(r"(\w+)(?:\[\w+\])?\s*[,;]", body)
            with self.subTest(name=name):
                # A later header may have others at the end.
                declared = [member for member, *_ in getattr(_library, name.capitalize())._fields_]
                self.assertEqual(members[:len(declared)], declared)

    def test_prototypes(self):
        scalars = {
            "int": ctypes.c_int, "bool": ctypes.c_bool, "size_t": ctypes.c_size_t, "int64_t": ctypes.c_int64,
            "uint32_t": ctypes.c_uint32, "void": None, "char *": ctypes.c_char_p,
            "iconcache_error *": ctypes.POINTER(_library.Error), "iconcache_image *": ctypes.POINTER(_library.Image)}

        def kind(words, is_result=False):
            words = " ".join(words.replace("const ", "").replace("*", " * ").split())
            words = re.sub(r"(?<=[\w*]) (?!\*)\w+$", "", words) if not is_result else words
            words = words.replace(" * *", " **")
            if words.endswith("**"):
                return ctypes.POINTER(ctypes.c_void_p)
            if is_result and words.endswith("*") and words != "char *":
                return ctypes.c_void_p
            return scalars.get(words, ctypes.c_void_p if words.endswith("*") else words)

        declared = {}
        for result, name, arguments in re.findall(r"ICONCACHE_API ([^;(]*?)(\w+)\(([^)]*)\);", self.header):
            declared[name] = (kind(result, True), *(kind(words) for words in arguments.split(",") if words != "void"))
        for name, types in _library.FUNCTIONS.items():
            with self.subTest(name=name):
                self.assertEqual(types, declared[name])

    def test_without_the_library(self):
        with tempfile.TemporaryDirectory() as work:
            empty = os.path.join(work, "libiconcache.so.0")
            Path(empty).write_text("")
            libc = re.search(r"/\S*/libc[.-]\S*", Path("/proc/self/maps").read_text())[0]
            # None, one that is damaged, and one without the functions, such as an older one.
            for path in (os.path.join(work, "none.so"), empty, libc):
                run = subprocess.run(
                    [sys.executable, "-B", "-c", "import iconcache"], stderr=subprocess.PIPE, text=True,
                    env={**os.environ, "PYTHONPATH": PACKAGE, "ICONCACHE_LIBRARY": path})
                with self.subTest(path=path):
                    self.assertEqual(run.returncode, 1)
                    last = run.stderr.splitlines()[-1]
                    self.assertRegex(last, "^ImportError: .*Install the package libiconcache0, or")


class CommandTests(CacheTest):
    """`python -m iconcache`"""

    def run_command(self, *arguments, code=0, stdout=subprocess.PIPE, encoding="utf-8"):
        run = subprocess.run(
            [sys.executable, "-B", "-m", "iconcache", "--cache", self.folder, *arguments], stdout=stdout,
            stderr=subprocess.PIPE, encoding=encoding,
            env={**os.environ, "PYTHONPATH": PACKAGE, "PYTHONIOENCODING": encoding})
        self.assertEqual(run.returncode, code, run.stderr)
        return run.stdout or run.stderr

    def test_commands(self):
        self.published.publish({LIST: [ready(MAIL, "mail", name="Ma\x1bil"), failed(GONE)]}, [("mail", MAIL)])
        self.published.rendition("mail 48", MAIL, "48")
        image = self.at(image_path(digest("mail")))
        for words, code, wanted in (
            (["path", MAIL], 0, self.at(url_path(MAIL)) + "\n"), 
            (["path", GONE], 1, f"iconcache: There is no image of {GONE} in {self.folder}. To see why: syncagent why URL\n"),
            (["path", MAIL, "--size", "30"], 0, self.at(size_path(MAIL, "48")) + "\n"),
            (["lists"], 0, f"{LIST}\t2\t1\t1\n"), 
            (["apps", "other"], 1, f"iconcache: There is no app list other in {self.folder}. There is {LIST}.\n"),
            (["apps", LIST], 0, f"ready\tMa?il\t{MAIL}\t{image}\nfailed\t\t{GONE}\thttp-404\n"),
            (["watch", "--timeout", "0"], 0, f"list_added\t{LIST}\t\nicon_ready\t{MAIL}\t{image}\n"),
            (["path", MAIL, "--size", "0"], 1, "iconcache: size must be at least 1\n"),
        ):
            with self.subTest(words=words):
                self.assertEqual(self.run_command(*words, code=code), wanted)
        for words in (["path"], ["apps"], ["lists", LIST]):
            self.assertIn("path takes a URL", self.run_command(*words, code=2))
        self.published.remove()
        self.assertIn("There is no icon cache at ", self.run_command("lists", code=1))
        version = iconcache.__version__
        self.assertEqual(self.run_command("--version"), f"iconcache {version}, libiconcache {version}\n")


    def test_a_watch_goes_on_after_an_error(self):
        self.publish_one()
        command = [sys.executable, "-B", "-m", "iconcache", "--cache", self.folder, "watch"]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": PACKAGE},
        ) as watch:
            try:
                self.assertEqual([watch.stdout.readline().split("\t")[0] for _ in range(2)], ["list_added", "icon_ready"])
                self.published.put_manifest("{")
                self.assertRegex(watch.stderr.readline(), "^iconcache: .*manifest.json is damaged: ")
                self.published.publish({LIST: [ready(MAIL, "new")]}, [("new", None)])
                self.assertEqual(watch.stdout.readline(), f"list_changed\t{LIST}\t\n")
            finally:
                watch.kill()
        self.published.put_manifest("{")
        for timeout in ("0", "1", "2"):
            self.assertIn(" is damaged: ", self.run_command("watch", "--timeout", timeout, code=1))

    def test_output_that_lacks_characters_or_room(self):
        self.published.publish({LIST: [pending(MAIL, name="Pošta é"), pending(MAPS)]})
        for encoding, name in (("utf-8", "Pošta é"), ("iso-8859-1", "Po?ta é"), ("ascii", "Po?ta ?")):
            with self.subTest(encoding=encoding):
                found = self.run_command("apps", LIST, encoding=encoding)
                self.assertEqual(found, f"pending\t{name}\t{MAIL}\t\npending\t\t{MAPS}\t\n")
        with open("/dev/full", "w") as full:
            found = self.run_command("apps", LIST, code=1, stdout=full)
        self.assertEqual(found, "iconcache: Cannot write the output: No space left on device.\n")
        reading, writing = os.pipe()
        os.close(reading)
        with open(writing, "w") as pipe:
            self.assertEqual(self.run_command("apps", LIST, code=1, stdout=pipe), "")


class PackageTests(unittest.TestCase):
    def test_version_is_that_of_the_project(self):
        with open(os.path.join(PROJECT, "Packaging/debian/changelog")) as file:
            self.assertEqual(iconcache.__version__, re.match(r"syncagent \(([^)]+)\)", file.readline())[1])

    def test_import_is_quick(self):
        code = "import sys, iconcache; print(*{'asyncio', 'unicodedata', 'subprocess'} & {*sys.modules})"
        found = subprocess.run(
            [sys.executable, "-I", "-S", "-B", "-c", f"import sys; sys.path[:0] = [{PACKAGE!r}]; {code}"],
            stdout=subprocess.PIPE, check=True)
        self.assertEqual(found.stdout, b"\n")

    @unittest.skipUnless(importlib.util.find_spec("setuptools"), "setuptools is not installed")
    def test_metadata_of_pip(self):
        if int(importlib.metadata.version("setuptools").partition(".")[0]) < 61:
            self.skipTest("setuptools does not read pyproject.toml")
        with tempfile.TemporaryDirectory() as work:
            package = shutil.copytree(PACKAGE, os.path.join(work, "package"))
            # The library need not be there.
            subprocess.run(
                [sys.executable, "-c", "import setuptools; setuptools.setup()", "-q", "egg_info"], cwd=package,
                check=True, stderr=subprocess.DEVNULL, env={**os.environ, "ICONCACHE_LIBRARY": "/none"})
            found, = importlib.metadata.distributions(path=[str(package)], name="iconcache")
            self.assertEqual((found.version, found.metadata["Name"]), (iconcache.__version__, "iconcache"))

    def test_every_name_is_there(self):
        for name in iconcache.__all__:
            self.assertTrue(hasattr(iconcache, name), name)
        self.assertTrue(os.path.exists(os.path.join(PACKAGE, "iconcache/py.typed")))


if __name__ == "__main__":
    unittest.main()
