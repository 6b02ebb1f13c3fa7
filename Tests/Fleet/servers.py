# SPDX-License-Identifier: Apache-2.0
"""An origin and an upstream in this process: each logs every request, and misbehaves when it is told to."""
import collections
import http.server
import pathlib
import socket
import struct
import threading
import time
from typing import NamedTuple

import icons

IMMUTABLE = "public, max-age=31536000, immutable"
MANIFEST = "public, max-age=60, stale-while-revalidate=600, stale-if-error=86400"


class Request(NamedTuple):
    at: float
    path: str
    headers: dict


class Server:
    """A threaded server on a free port of 127.0.0.1. `stop` refuses connections, and `start` listens there again."""

    def __init__(self, tls=None):
        """`tls` is the context of a server for https."""
        self.tls = tls
        self.requests = []
        self.lock = threading.Lock()
        self.server = None
        self.port = 0
        # Whoever hangs waits for this.
        self.released = threading.Event()
        self.start()

    @property
    def url(self):
        return f"http{'s' if self.tls else ''}://127.0.0.1:{self.port}/"

    def start(self):
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            timeout = 60

            def do_GET(self):
                with owner.lock:
                    owner.requests.append(Request(time.time(), self.path, dict(self.headers)))
                try:
                    owner.answer(self)
                except ConnectionError:
                    self.close_connection = True

            def log_message(self, *_):
                pass

        class Listener(http.server.ThreadingHTTPServer):
            allow_reuse_address = True
            daemon_threads = True
            block_on_close = False
            request_queue_size = 256

            def __init__(self, *arguments):
                self.connections = set()
                super().__init__(*arguments)

            def process_request(self, request, address):
                with owner.lock:
                    self.connections.add(request)
                super().process_request(request, address)

            def shutdown_request(self, request):
                with owner.lock:
                    self.connections.discard(request)
                super().shutdown_request(request)

            def handle_error(self, *_):
                pass

        self.released.clear()
        self.server = Listener(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_address[1]
        if self.tls:
            # The handshake is made by the thread of the connection, with its first read.
            self.server.socket = self.tls.wrap_socket(
                self.server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def stop(self):
        if self.server is None:
            return
        self.released.set()
        self.server.shutdown()
        self.server.server_close()
        with self.lock:
            connections = list(self.server.connections)
        for connection in connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.server = None

    def answer(self, handler):
        raise NotImplementedError

    def reply(self, handler, status, body=b"", fields=None, cut=False):
        handler.send_response(status)
        for name, value in (fields or {}).items():
            handler.send_header(name, value)
        if status != 304:
            handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        if status == 304:
            return
        if cut:
            handler.wfile.write(body[:len(body) // 2])
            # A reset, not an end.
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            handler.close_connection = True
        else:
            handler.wfile.write(body)

    def counts(self):
        """How often each path was requested."""
        with self.lock:
            return collections.Counter(request.path for request in self.requests)

    def forget(self):
        with self.lock:
            self.requests.clear()


class Origin(Server):
    """The icons of a vendor: /7.png. They are fresh for a day."""

    def address(self, number):
        return f"{self.url}{number}.png"

    def icons(self):
        """How often each icon was requested, by number."""
        return collections.Counter({
            int(path.strip("/").removesuffix(".png")): count for path, count in self.counts().items()
            if path.endswith(".png")})

    def answer(self, handler):
        name = handler.path.strip("/").removesuffix(".png")
        if not name.isdigit():
            return self.reply(handler, 404)
        fields = {"ETag": f'"{name}"', "Cache-Control": "max-age=86400", "Content-Type": "image/png"}
        if handler.headers.get("If-None-Match") == f'"{name}"':
            return self.reply(handler, 304, fields=fields)
        return self.reply(handler, 200, icons.png(int(name)), fields)


class TreeServer(Server):
    """An upstream: the files of a folder, with the Cache-Control of each kind, and on demand a fault.

    Faults are `refuse`, `hang`, `cut`, `flip`, `slow`, the status of an answer, and a URL to which it redirects.
    """

    def __init__(self, tree, manifest=MANIFEST, tls=None):
        self.tree = pathlib.Path(tree)
        self.manifest = manifest
        self.fault = None
        # Which paths have the fault.
        self.concerns = lambda path: True
        super().__init__(tls)

    def break_down(self, fault, concerns=lambda path: True):
        self.heal()
        self.concerns = concerns
        self.fault = fault
        if fault == "refuse":
            self.stop()

    def heal(self):
        self.fault = None
        self.released.set()
        if self.server is None:
            self.start()
        self.released.clear()

    def answer(self, handler):
        path = handler.path.partition("?")[0]
        fault = self.fault if self.concerns(path) else None
        if fault == "hang":
            self.released.wait(60)
            handler.close_connection = True
            return None
        if fault in ("500", "503", "401"):
            return self.reply(handler, int(fault), b"no\n")
        if fault and fault.startswith("http:"):
            return self.reply(handler, 302, fields={"Location": fault.rstrip("/") + path})
        file = self.tree / path.lstrip("/")
        try:
            if ".." in file.parts:
                raise FileNotFoundError
            body = file.read_bytes()
            changed = file.stat().st_mtime_ns
            if fault in ("403", "404"):
                raise FileNotFoundError
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            return self.reply(handler, 403 if fault == "403" else 404, b"no\n")
        tag = f'"{changed:x}-{len(body):x}"'
        fields = {"ETag": tag, "Cache-Control": self.manifest if path == "/manifest.json" else IMMUTABLE}
        if handler.headers.get("If-None-Match") == tag:
            return self.reply(handler, 304, fields=fields)
        if fault == "flip":
            body = body[:-1] + bytes([body[-1] ^ 1])
        if fault == "slow":
            # One byte a second: alive, and of no use.
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            for byte in body:
                handler.wfile.write(bytes([byte]))
                if self.released.wait(1):
                    break
            handler.close_connection = True
            return None
        return self.reply(handler, 200, body, fields, cut=fault == "cut")
