# SPDX-License-Identifier: Apache-2.0
"""The image in containers, with their volumes on this machine."""
import contextlib
import fcntl
import http.server
import json
import os
import pathlib
import plistlib
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import icons
from commands import die_with_parent, execute, until
from container import AGENT, PROFILE, Container
from image import ImageTest, what_is_missing
from reader import CacheReader

PACKAGE = pathlib.Path(__file__).resolve().parent.parent / "Package"
LISTS, CACHE, STATE = "/etc/syncagent/lists.d", "/var/cache/syncagent", "/var/lib/syncagent"
CONFIGURATION = "/etc/syncagent/syncagent.toml"
RUN = ("run", "--allow-network", "127.0.0.1/32")


class Origin:
    """The origin of the tests of the package, on loopback."""

    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen(
            [sys.executable, str(PACKAGE / "origin.py"), "127.0.0.1", str(self.port)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=die_with_parent)
        self.process.stdout.readline()

    def url(self, number):
        return f"http://127.0.0.1:{self.port}/{number}.png"

    def counts(self):
        self.process.stdin.write(b"counts\n")
        self.process.stdin.flush()
        return {int(number): count for number, count in json.loads(self.process.stdout.readline()).items()}

    def end(self):
        self.process.kill()
        self.process.communicate()


class ContainerTest(ImageTest):
    @classmethod
    def setUpClass(cls):
        if missing := what_is_missing():
            raise unittest.SkipTest(f"{missing} is missing")
        # What runc mounts on the root is gone with the container.
        cls.root = cls.scratch / f"root-{cls.__name__}"
        cls.read(cls.archive).unpack(cls.root)
        cls.addClassCleanup(shutil.rmtree, cls.root)
        cls.origin = Origin()
        cls.addClassCleanup(cls.origin.end)

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=self.scratch))
        self.folder.chmod(0o755)
        self.addCleanup(shutil.rmtree, self.folder)
        self.volumes = {LISTS: self.volume("lists", 0), CACHE: self.volume("cache"), STATE: self.volume("state")}
        self.cache = self.volumes[CACHE]

    def volume(self, name, owner=AGENT):
        folder = self.folder / name
        folder.mkdir(mode=0o755)
        os.chown(folder, owner, owner)
        return folder

    def container(self, *arguments, **options):
        options = {"mounts": self.volumes} | options
        container = Container(self.image, self.root, self.folder, arguments or RUN, **options)
        self.addCleanup(container.remove)
        return container

    def plist(self, numbers):
        return plistlib.dumps([{"name": f"App {number}", "icon": self.origin.url(number)} for number in numbers])

    def drop(self, numbers, name="apps"):
        (self.volumes[LISTS] / f"{name}.plist").write_bytes(self.plist(numbers))

    def ready(self):
        """The numbers of the icons that programs outside the container find, each compared with what was served."""
        try:
            return CacheReader(self.cache).check_all()
        except FileNotFoundError:
            return set()

    def await_ready(self, numbers):
        until(lambda: f"{numbers}, not {self.ready()}", lambda: self.ready() == set(numbers))

    def traces(self):
        return {
            path: (status.st_mode, status.st_uid, status.st_mtime_ns, status.st_ctime_ns)
            for path in self.root.rglob("*") if (status := path.lstat())}


class Containers(ContainerTest):
    def test_from_an_empty_cache_to_an_icon_that_others_read(self):
        container = self.container().start()
        begin = time.monotonic()
        self.drop(range(3))
        self.await_ready(range(3))
        took = time.monotonic() - begin
        status = json.loads(container.syncagent("status", "--json").out)
        self.assertEqual((status["state"], status["icons"]["ready"], status["watch"]["mode"]), ("running", 3, "inotify"))
        self.assertEqual(status["pid"], 1)
        memory = int(re.search(r"VmRSS:\s*(\d+)", pathlib.Path(f"/proc/{container.agent}/status").read_text())[1])
        begin = time.monotonic()
        health = container.syncagent("status", "--health")
        checked = time.monotonic() - begin
        self.assertEqual(health.err, "")
        self.assertEqual(len(health.out.splitlines()), 1)
        print(
            f"started in {container.took:.2f} s, icons after {took:.2f} s, {memory / 1000:.0f} MB resident, "
            f"health check {checked * 1000:.0f} ms", end=" ")
        path = pathlib.Path(container.syncagent("path", self.origin.url(2)).out.strip())
        self.assertEqual((self.cache / path.relative_to(CACHE)).read_bytes(), icons.png(2))

    def test_it_has_no_rights_and_the_filters_of_the_engine_and_its_own(self):
        container = self.container().start()
        for program in ("syncagent", "syncagent-watch"):
            [status] = [status for status in processes_of(container) if status["Name"] == program]
            with self.subTest(program):
                self.assertEqual(status["Uid"].split(), [str(AGENT)] * 4)
                self.assertEqual(int(status["CapEff"], 16) | int(status["CapBnd"], 16), 0)
                self.assertEqual(status["NoNewPrivs"], "1")
                self.assertEqual(status["Seccomp"], "2" if PROFILE.exists() else "0")
        if not PROFILE.exists():
            self.skipTest(f"{PROFILE} is missing: the filter of engines was not there")

    def test_sigterm_ends_it_and_a_restart_keeps_the_cache(self):
        container = self.container().start()
        self.drop(range(5))
        self.await_ready(range(5))
        code, took = container.stop()
        print(f"ended in {took:.2f} s", end=" ")
        self.assertEqual(code, 0, container.text())
        self.assertEqual(self.ready(), set(range(5)))
        counts = self.origin.counts()
        again = self.container().start()
        self.drop(range(6))
        self.await_ready(range(6))
        # What is fresh is not asked for again.
        self.assertEqual({number: count for number, count in self.origin.counts().items() if number < 5},
                         {number: count for number, count in counts.items() if number < 5})
        self.assertEqual(again.stop()[0], 0)

    def test_sigterm_while_it_downloads_ends_it_in_time(self):
        container = self.container().start()
        self.drop(range(1000, 1500))
        until("the first icons", self.ready)
        code, took = container.stop()
        self.assertEqual(code, 0, container.text())
        print(f"ended in {took:.2f} s", end=" ")

    def test_the_root_stays_as_it_was(self):
        before = self.traces()
        container = self.container().start()
        self.drop([1])
        self.await_ready([1])
        container.syncagent("sync", "--wait")
        container.stop()
        self.assertEqual(self.traces(), before)

    def test_a_second_one_on_the_same_cache_is_refused(self):
        self.container().start()
        second = self.container().run()
        self.assertEqual(second.code, 75, second.err)
        self.assertIn(f"{CACHE} is in use by", second.out + second.err)

    def test_a_volume_of_another_owner_is_refused_with_a_reason(self):
        for path in (CACHE, STATE):
            with self.subTest(path):
                os.chown(self.volumes[path], 1234, 1234)
                result = self.container().run()
                os.chown(self.volumes[path], AGENT, AGENT)
                self.assertEqual(result.code, 73, result.out + result.err)
                self.assertIn(path, result.out + result.err)
                self.assertIn(f"user 1234, but syncagent runs as user {AGENT}", result.out + result.err)

    def test_a_failed_icon_is_a_problem_and_the_container_is_healthy(self):
        container = self.container().start()
        (self.volumes[LISTS] / "bad.plist").write_bytes(
            plistlib.dumps([{"name": "Bad", "icon": f"http://127.0.0.1:{self.origin.port}/none.png"}]))
        until("the failure", lambda: container.syncagent("status", check=False).code == 1)
        self.assertEqual(container.syncagent("status", "--health").code, 0)

    def test_it_is_not_healthy_while_it_cannot_publish(self):
        container = self.container().start()
        self.drop([1])
        self.await_ready([1])
        # A link where the agent writes: it refuses to follow it.
        shutil.rmtree(self.cache / "generations")
        (self.cache / "generations").symlink_to("/tmp")
        self.drop([1, 2])
        until("the container to be unhealthy", lambda: container.syncagent("status", "--health", check=False).code == 1)
        (self.cache / "generations").unlink()
        until("the container to be healthy", lambda: container.syncagent("status", "--health", check=False).code == 0)

    def test_a_lease_from_outside_keeps_an_image(self):
        container = self.container(environment=["SYNCAGENT_CACHE_GRACE=0ms"]).start()
        self.drop([1, 2])
        self.await_ready([1, 2])
        path = self.cache / CacheReader(self.cache).ready()[self.origin.url(2)]
        generation = CacheReader(self.cache).generation()
        with (self.cache / f"generations/{generation}.json").open("rb") as leased:
            fcntl.flock(leased, fcntl.LOCK_SH)
            self.drop([1])
            self.await_ready([1])
            until("the image to be old enough", lambda: time.time() - path.lstat().st_ctime > 6)
            container.syncagent("evict", check=False)
            self.assertTrue(path.exists(), "an image that is leased was removed")
        until("the image to be evicted", lambda: container.syncagent("evict", check=False) and not path.exists())

    def test_a_config_map_is_swapped_as_a_whole(self):
        container = self.container().start()
        lists = self.volumes[LISTS]

        def publish(version, numbers):
            (lists / version).mkdir()
            (lists / version / "apps.plist").write_bytes(self.plist(numbers))
            (lists / "..data_tmp").symlink_to(version)
            (lists / "..data_tmp").rename(lists / "..data")

        # What the kubelet writes for a volume of a ConfigMap.
        publish("..2026_11_27_01", [1])
        (lists / "apps.plist").symlink_to("..data/apps.plist")
        self.await_ready([1])
        publish("..2026_11_27_02", [1, 2])
        shutil.rmtree(lists / "..2026_11_27_01")
        self.await_ready([1, 2])
        self.assertEqual(container.syncagent("status").code, 0)

    def test_a_run_folder_that_kubernetes_gives_is_fine_one_level_up(self):
        # An emptyDir belongs to root and has mode 0777. On /run, the agent makes a folder of its own in it.
        given = self.volume("emptyDir", 0)
        given.chmod(0o777)
        container = self.container(mounts=self.volumes | {"/run": given}).start()
        self.assertEqual(container.syncagent("status").code, 0)
        container.stop()
        refused = self.container(mounts=self.volumes | {"/run/syncagent": given}).run()
        self.assertEqual(refused.code, 73)
        self.assertIn("/run/syncagent can be changed by others", refused.out + refused.err)

    def test_it_runs_as_another_user_who_owns_the_volumes(self):
        own = {CACHE: self.volume("own-cache", 7000), STATE: self.volume("own-state", 7000)}
        container = self.container(mounts=self.volumes | own, user=7000).start()
        self.assertEqual(container.syncagent("status").code, 0)

    def test_a_signal_makes_it_read_its_file_again(self):
        file = self.folder / "syncagent.toml"
        file.write_text("[fetch]\nconcurrency = 5\n")
        container = self.container(mounts=self.volumes | {CONFIGURATION: file}).start()

        def concurrency():
            report = json.loads(container.syncagent("config", "--json").out)
            return [entry["value"] for entry in report["settings"] if entry["key"] == "fetch.concurrency"][0]

        self.assertEqual(concurrency(), "5")
        file.write_text("[fetch]\nconcurrency = 6\n")
        container.runc("kill", container.name, "HUP")
        until("the new value", lambda: concurrency() == "6")

    def test_settings_are_variables_or_a_file(self):
        file = self.folder / "syncagent.toml"
        file.write_text('[network]\nallow = ["127.0.0.1/32"]\n')
        container = self.container(
            "run", mounts=self.volumes | {CONFIGURATION: file}, environment=["SYNCAGENT_FETCH_CONCURRENCY=7"]).start()
        self.drop([1])
        self.await_ready([1])
        report = json.loads(container.syncagent("config", "--json").out)
        self.assertEqual([entry["value"] for entry in report["settings"] if entry["key"] == "fetch.concurrency"], ["7"])

    def test_the_renderer_works_under_both_filters(self):
        if not (self.root / "usr/libexec/syncagent/syncagent-render").exists():
            self.skipTest("the image has no renderer")
        container = self.container(environment=["SYNCAGENT_RENDER_SIZES=48,64@2"]).start()
        report = {}

        def rendered():
            report.update(json.loads(container.syncagent("status", "--json", check=False).out)["renditions"])
            return (report["ready"], report["pending"], report["failed"]) == (200, 0, 0)

        with watching(container) as seen:
            self.drop(range(2000, 2200))
            until(lambda: f"200 images to be rendered: {report}", rendered, limit=60)
        print(", ".join(f"{name}: {count} filters" for name, count in sorted(seen)), end=" ")
        self.assertIsNone(report["error"])
        # Names follow in steps.
        until("200 names", lambda: sum(not path.is_dir() for path in (self.cache / "by-size/48").rglob("*")) == 200)
        # That of the engine, and its own.
        self.assertTrue({("syncagent-parse", 1 + PROFILE.exists()), ("syncagent-rende", 1 + PROFILE.exists())} <= seen)
        if not PROFILE.exists():
            self.skipTest(f"{PROFILE} is missing: the filter of engines was not there")

    def test_certificates_of_servers_are_checked_against_the_bundle_of_the_image(self):
        bundle = "/etc/ssl/certs/ca-certificates.crt"
        self.assertGreater((self.root / bundle.lstrip("/")).read_text().count("BEGIN CERTIFICATE"), 100)
        if not shutil.which("openssl"):
            self.skipTest("openssl is missing")
        certificate, key = self.folder / "certificate", self.folder / "key"
        execute(
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=origin", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate)
        url = self.enterContext(secure_origin(certificate, key))
        self.volumes[LISTS].joinpath("apps.plist").write_bytes(plistlib.dumps([{"name": "App", "icon": url}]))
        unknown = self.container().start()
        until("the failure", lambda: unknown.syncagent("status", check=False).code == 1)
        [failure] = json.loads(unknown.syncagent("status", "--json", check=False).out)["failures"]
        self.assertEqual(failure["code"], "tls")
        unknown.stop()
        # As an administrator adds an authority: by a bundle of their own.
        self.container(mounts=self.volumes | {bundle: certificate}).start().syncagent("retry", url)
        self.await_ready([7])


@contextlib.contextmanager
def secure_origin(certificate, key):
    """An origin of one icon over TLS; the URL of its icon."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "image/png")
            self.send_header("Content-Length", str(len(icons.png(7))))
            self.end_headers()
            self.wfile.write(icons.png(7))

        def log_message(self, *_):
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.handle_error = lambda *_: None
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"https://127.0.0.1:{server.server_port}/7.png"
        server.shutdown()


@contextlib.contextmanager
def watching(container):
    """The helper programs that run meanwhile: a set of their names, each with the filters of system calls that it has."""
    seen, is_over = set(), threading.Event()

    def look():
        while not is_over.wait(0.001):
            for status in processes_of(container):
                if status["Name"].startswith("syncagent-"):
                    seen.add((status["Name"], int(status.get("Seccomp_filters", 0))))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        is_over.set()
        thread.join()


def processes_of(container):
    """The agent and the programs that it has started: what /proc says of them."""
    agent = container.agent
    children = []
    for file in pathlib.Path(f"/proc/{agent}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            children += file.read_text().split()
    for process in [agent, *children]:
        try:
            lines = pathlib.Path(f"/proc/{process}/status").read_text().splitlines()
        except OSError:
            continue
        yield dict(line.split(":\t", 1) for line in lines if ":\t" in line)
