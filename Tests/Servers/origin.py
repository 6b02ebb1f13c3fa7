# SPDX-License-Identifier: Apache-2.0
"""The origin behind a cache: it counts requests, and does what the name of each file says."""
import http.server
import threading
from email.utils import formatdate
import hashlib
import time

import images

# The Cache-Control of each file; `None` if it has none.
FILES = {
    "heuristic": None, "fresh": "max-age=3600", "same": "max-age=3600", "tag": "max-age=3600", "date": "max-age=3600",
    "ask": "no-cache", "expired": "max-age=1", "expired-same": "max-age=1", "expired-tag": "max-age=1", "fails": "max-age=1", "down": "max-age=1",
    "late": None, "cut": "max-age=3600", "cut-unsaid": "max-age=3600",
}


class Origin:
    def __init__(self):
        self.requests, self.lock = [], threading.Lock()
        self.bodies = {name: images.picture(f"{name} 1", 300 if "cut" in name else 24) for name in FILES}
        self.dates = dict.fromkeys(FILES, int(time.time()) - 10 * 86_400)
        self.missing, self.failing = {"late"}, set()
        self.server, self.port = None, 0
        self.start()

    def start(self):
        origin = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                origin.answer(self)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                """A cache that ends its connections is no error."""

        self.server = Server(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        """Refuses connections from now on. Open ones end with their next request."""
        self.server.shutdown()
        self.server.server_close()
        self.failing = None

    def change(self, *names):
        for name in names:
            self.bodies[name] = images.picture(f"{name} 2", 28)
            self.dates[name] += 5 * 86_400

    def since(self, mark, name):
        with self.lock:
            return [asked for path, asked in self.requests[mark:] if path == name]

    def mark(self):
        with self.lock:
            return len(self.requests)

    def answer(self, to):
        name = to.path.rpartition("/")[2].removesuffix(".png")
        asked = {key.lower(): value for key, value in to.headers.items()}
        with self.lock:
            self.requests.append((name, asked))
        if self.failing is None:
            to.close_connection = True
            return
        if name in self.failing or name in self.missing or name not in FILES:
            self.send(to, 500 if name in self.failing else 404, {}, b"none\n")
            return
        body = self.bodies[name]
        fields = {"Content-Type": "image/png"}
        tag, date = f'"{hashlib.sha256(body).hexdigest()[:16]}"', formatdate(self.dates[name], usegmt=True)
        if name != "date":
            fields["ETag"] = tag
        if not name.endswith("tag"):
            fields["Last-Modified"] = date
        if FILES[name]:
            fields["Cache-Control"] = FILES[name]
        if name != "cut-unsaid":
            fields["Accept-Ranges"] = "bytes"
        is_known = asked["if-none-match"] == tag if "if-none-match" in asked else asked.get("if-modified-since") == date
        if is_known:
            self.send(to, 304, fields, b"")
            return
        start = asked.get("range", "").removeprefix("bytes=").removesuffix("-")
        if name != "cut-unsaid" and start.isdigit() and asked.get("if-range", tag) in (tag, date):
            fields["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
            self.send(to, 206, fields, body[int(start):])
            return
        self.send(to, 200, fields, body)

    @staticmethod
    def send(to, status, fields, body):
        to.send_response(status)
        for name, value in fields.items():
            to.send_header(name, value)
        if status != 304:
            to.send_header("Content-Length", str(len(body)))
        to.end_headers()
        to.wfile.write(body)
