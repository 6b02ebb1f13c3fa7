# SPDX-License-Identifier: Apache-2.0
"""What the engines do with their sample configurations: the facts that the agent's side relies on."""
import concurrent.futures
import http.client
import time

import icons
from case import PROXIES, FleetTest
from commands import execute, until
from engines import NginxBucket, NginxPair, NginxStatic, SeaweedFS
from servers import IMMUTABLE, MANIFEST, TreeServer
from trees import Tree, icon_path


def get(engine, path, **fields):
    """The status, the fields and the body of a reply."""
    connection = http.client.HTTPConnection("127.0.0.1", engine.port, timeout=30)
    try:
        connection.request("GET", path, headers=fields)
        reply = connection.getresponse()
        return reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read()
    finally:
        connection.close()


class StaticServer(FleetTest):
    def setUp(self):
        super().setUp()
        self.tree = Tree(self.folder / "tree")
        self.tree.publish({"apps.plist": range(3)})
        self.engine = self.start(NginxStatic, self.tree.folder)

    def path(self, kind):
        return "/" + str(next(self.tree.folder.glob(f"{kind}/**/*.*")).relative_to(self.tree.folder))

    def test_each_kind_has_its_cache_control_and_type(self):
        (self.tree.folder / "signatures").mkdir()
        self.tree.write("signatures/0.minisig", b"untrusted comment: \n")
        for path, control, kind in (
                ("/manifest.json", MANIFEST, "application/json"), (self.path("lists"), IMMUTABLE, "application/json"),
                (self.path("icons"), IMMUTABLE, "image/png"), (self.path("signatures"), IMMUTABLE, "text/plain")):
            status, fields, body = get(self.engine, path)
            self.assertEqual((status, fields["cache-control"], fields["content-type"]), (200, control, kind), path)
            self.assertEqual(body, (self.tree.folder / path[1:]).read_bytes())

    def test_nothing_else_is_served_and_no_folder_is_listed(self):
        (self.tree.folder / "by-url").mkdir()
        self.tree.write("by-url/x", b"x")
        self.tree.write("lock", b"x")
        for path in ("/", "/icons/", "/icons", "/lists/", "/by-url/x", "/lock", "/icons/../lock", "/.rclone"):
            status, fields, _ = get(self.engine, path)
            self.assertIn(status, (403, 404), path)
            self.assertNotIn("cache-control", fields, path)

    def test_what_is_missing_is_not_kept_for_a_year(self):
        status, fields, _ = get(self.engine, "/icons/00/" + "0" * 64 + ".png")
        self.assertEqual(status, 404)
        self.assertNotIn("cache-control", fields)

    def test_an_unchanged_manifest_is_not_sent_again(self):
        fields = get(self.engine, "/manifest.json")[1]
        self.assertEqual(get(self.engine, "/manifest.json", **{"If-None-Match": fields["etag"]})[0], 304)

    def test_both_samples_are_in_one_nginx_and_other_names_get_neither(self):
        pair = self.start(NginxPair, self.tree.folder)
        manifest = (self.tree.folder / "manifest.json").read_bytes()
        for host in ("icons.example.com", "cache.example.com"):
            status, fields, body = get(pair, "/manifest.json", Host=host)
            self.assertEqual((status, fields["cache-control"], body), (200, MANIFEST, manifest), host)
        self.assertEqual(get(pair, "/manifest.json")[0], 404)


class Bucket(FleetTest):
    def test_everybody_reads_and_only_the_publisher_writes(self):
        bucket = self.start(SeaweedFS)
        tree = Tree(self.folder / "tree")
        tree.publish({"apps.plist": range(3)})
        for path, control in ((icon_path(1), IMMUTABLE), ("manifest.json", MANIFEST)):
            execute("rclone", "copyto", "--s3-no-check-bucket", "--header-upload", f"Cache-Control: {control}",
                    tree.folder / path, f"{bucket.remote}/{path}", env=bucket.variables())
            status, fields, body = get(bucket, f"/syncagent/{path}")
            self.assertEqual((status, fields["cache-control"], body),
                             (200, control, (tree.folder / path).read_bytes()), path)
            self.assertEqual(get(bucket, f"/syncagent/{path}", **{"If-None-Match": fields["etag"]})[0], 304)
        missing = get(bucket, "/syncagent/icons/00/00.png")
        self.assertIn(missing[0], (403, 404))
        self.assertNotIn("cache-control", missing[1])
        self.assertEqual(get(bucket, "/syncagent/?list-type=2")[0], 403)
        connection = http.client.HTTPConnection("127.0.0.1", bucket.port, timeout=30)
        self.addCleanup(connection.close)
        connection.request("PUT", "/syncagent/manifest.json", body=b"x")
        self.assertEqual(connection.getresponse().status, 403)
        proxy = self.start(NginxBucket, bucket.port)
        for path in (icon_path(1), "manifest.json"):
            status, fields, body = get(proxy, f"/{path}")
            self.assertEqual((status, body), (200, (tree.folder / path).read_bytes()), path)


class Proxies(FleetTest):
    """The same for each caching proxy."""

    def each_proxy(self, body, manifest=MANIFEST):
        """Runs this with all proxies at once, each with a tree of its own behind it."""
        trees = []
        for kind in PROXIES:
            tree = Tree(self.folder / kind.__name__)
            tree.publish({"apps.plist": range(30)})
            upstream = self.serve(TreeServer(tree.folder, manifest))
            trees.append((kind.__name__, self.start(kind, upstream.port), upstream, tree))
        with concurrent.futures.ThreadPoolExecutor() as pool:
            bodies = [pool.submit(body, *arguments) for arguments in trees]
        for (name, *_), one in zip(trees, bodies):
            with self.subTest(name):
                one.result()

    def requests(self, upstream, path):
        """Requests of agents; not the probes."""
        with upstream.lock:
            return [one for one in upstream.requests if one.path == path and one.headers.get("Connection") != "close"]

    def test_a_manifest_with_an_age_is_kept_and_one_with_no_cache_is_not(self):
        for control, kept in ((MANIFEST, True), ("no-cache", False)):
            def body(name, engine, upstream, _):
                for _ in range(3):
                    status, fields, _ = get(engine, "/manifest.json")
                    self.assertEqual((status, fields["cache-control"]), (200, control))
                requests = self.requests(upstream, "/manifest.json")
                conditional = sum("If-None-Match" in one.headers for one in requests)
                self.note(f"{name}, {control.partition(',')[0]}: 3 requests, {len(requests)} at the upstream, "
                          f"{conditional} of them conditional")
                self.assertEqual(len(requests), 1 if kept else 3)

            self.each_proxy(body, control)

    def test_simultaneous_misses_become_one_request(self):
        def body(name, engine, upstream, _):
            path = "/" + icon_path(1)
            with concurrent.futures.ThreadPoolExecutor(20) as pool:
                replies = list(pool.map(lambda _: get(engine, path), range(20)))
            self.assertEqual({(status, body) for status, _, body in replies}, {(200, icons.png(1))})
            self.assertEqual(len(self.requests(upstream, path)), 1, name)

        self.each_proxy(body)

    def test_what_is_missing_is_found_soon_after_it_was_published(self):
        def body(name, engine, upstream, tree):
            path = "/" + icon_path(500)
            start = time.monotonic()
            for _ in range(3):
                self.assertEqual(get(engine, path)[0], 404)
            # Squid keeps none.
            self.assertEqual(len(self.requests(upstream, path)), 3 if name == "Squid" else 1)
            tree.write(path[1:], icons.png(500))
            until("the icon", lambda: get(engine, path)[0] == 200, 20)
            self.note(f"{name}: a 404 was kept for {time.monotonic() - start:.0f} s")

        self.each_proxy(body)

    def test_a_request_with_no_cache_replaces_what_is_damaged(self):
        def body(name, engine, upstream, _):
            path = "/" + icon_path(2)
            upstream.break_down("flip")
            self.assertNotEqual(get(engine, path)[2], icons.png(2), name)
            upstream.heal()
            self.assertNotEqual(get(engine, path)[2], icons.png(2), name)
            self.assertEqual(get(engine, path, **{"Cache-Control": "no-cache"})[2], icons.png(2), name)
            # nginx answers before it has put the file in its place.
            until("the icon in the cache", lambda: get(engine, path)[2] == icons.png(2), 2)

        self.each_proxy(body)

    def test_a_body_that_is_cut_is_not_kept(self):
        def body(name, engine, upstream, _):
            path = "/" + icon_path(3)
            upstream.break_down("cut")
            try:
                status, _, body = get(engine, path)
                self.assertNotEqual((status, body), (200, icons.png(3)))
            except (http.client.IncompleteRead, ConnectionError):
                pass
            upstream.heal()
            self.assertEqual(get(engine, path)[2], icons.png(3), name)

        self.each_proxy(body)

    def test_nothing_else_is_served(self):
        def body(name, engine, upstream, tree):
            (tree.folder / "by-url").mkdir()
            tree.write("by-url/x", b"x")
            for path in ("/", "/by-url/x", "/lock"):
                self.assertIn(get(engine, path)[0], (403, 404), f"{name} {path}")
                self.assertEqual(self.requests(upstream, path), [])

        self.each_proxy(body)

    def test_an_expired_manifest_is_served_while_the_upstream_fails_and_renewed_after_that(self):
        short = MANIFEST.replace("max-age=60", "max-age=1")
        def body(name, engine, upstream, tree):
            path = "/" + icon_path(4)
            self.assertEqual(get(engine, path)[0], 200)
            old = get(engine, "/manifest.json")[2]
            self.pause_until(time.time() + 2)
            for fault in ("500", "refuse", "hang"):
                upstream.break_down(fault)
                waits = []
                for _ in range(2):
                    start = time.monotonic()
                    status, _, body = get(engine, "/manifest.json")
                    waits.append(time.monotonic() - start)
                    self.assertEqual((status, body), (200, old), f"{name}, {fault}")
                self.assertEqual(get(engine, path)[0], 200)
                self.assertLess(max(waits), 5, f"{name}, {fault}: agents wait 5 s")
                self.note(f"{name}, {fault}: an expired manifest after {max(waits):.1f} s")
                upstream.heal()
            tree.publish({"apps.plist": range(40)})
            new = (tree.folder / "manifest.json").read_bytes()
            until("the new manifest", lambda: get(engine, "/manifest.json")[2] == new, 30)

        self.each_proxy(body, short)
