# SPDX-License-Identifier: Apache-2.0
"""An agent that says what a test wants it to say, and serves the dashboard's files from the source tree."""
import functools
import hashlib
import http.server
import json
import pathlib
import struct
import threading
import time
import urllib.parse
import zlib

FILES = pathlib.Path(__file__).resolve().parents[2] / "Sources" / "DashboardPage"
TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
# As DashboardSite.swift has it.
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'{}; connect-src 'self'; "
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
APPS = ["Mail", "Maps", "Music", "Notes", "Photos", "Books", "Clock", "Weather", "Calendar", "Terminal", "Safari Guide",
        "Contacts", "Reminders", "Stocks", "Preview", "Numbers", "Pages", "Keynote", "Podcasts", "Voice Memos",
        "Remote Desktop Viewer", "Übersetzer", "Карта", "写真", "خرائط"]


@functools.cache
def png(seed):
    """A small picture that is another one for each seed."""
    digest = hashlib.sha256(str(seed).encode()).digest()
    a, b = [tuple(60 + x % 150 for x in digest[i:i + 3]) for i in (0, 3)]
    rows = b""
    for y in range(64):
        rows += b"\0"
        for x in range(64):
            dx, dy = min(x, 63 - x), min(y, 63 - y)
            corner = dx < 14 and dy < 14 and (14 - dx) ** 2 + (14 - dy) ** 2 > 196
            cell = digest[6 + (min(x, 63 - x) // 8) * 4 % 24 + (y // 16)] & 1
            inside = 14 <= x < 50 and 14 <= y < 50
            rows += bytes((0, 0, 0, 0)) if corner else bytes((255, 255, 255, 235) if inside and cell else
                                                             (*(a if y < 32 + digest[30] % 20 else b), 255))

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 64, 64, 8, 6, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows, 6)) + chunk(b"IEND", b""))


def stamp(seconds=0):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))


def icons(count, failed=(), pending=0, lists=1):
    """Icons that are ready but for the last ones; `failed` has a code for each that failed."""
    made = []
    for index in range(count):
        name = APPS[index % len(APPS)] + (f" {index // len(APPS) + 1}" if index >= len(APPS) else "")
        digest = hashlib.sha256(f"image {index}".encode()).hexdigest()
        made.append({
            "url": f"https://icons.example.com/{index:05}/{urllib.parse.quote(name)}.png?token=secret", "names": [name],
            "state": "ready", "lists": [f"apps-{index % lists + 1:02}.plist" if lists > 1 else "apps.plist"],
            "path": f"icons/{digest[:2]}/{digest}.png", "sha256": digest, "bytes": 2000 + index * 7 % 9000,
            "type": "image/png", "width": 64, "height": 64, "error": None,
            "stale": "Stale since 2026-11-21T02:44:52Z, but still used because a refresh failed."
            if index % 41 == 40 else None})
    rest = made[::-1]
    for icon, code in zip(rest, failed):
        icon.update(state="failed", error=code, path=None, sha256=None, bytes=None, type=None, width=None, height=None)
    for icon in rest[len(failed):len(failed) + pending]:
        icon.update(state="pending", path=None, sha256=None, bytes=None, type=None, width=None, height=None)
    return made


def status(own, verdict=None, problems=(), **changes):
    names = sorted({name for icon in own for name in icon["lists"]})
    lists = []
    for name in names:
        mine = [icon["state"] for icon in own if name in icon["lists"]]
        lists.append({"name": name, "state": "ok", "apps": len(mine), "ready": mine.count("ready"),
                      "pending": mine.count("pending"), "failed": mine.count("failed"), "error": None, "problems": 0,
                      "code": None})
    state = [icon["state"] for icon in own]
    codes = {}
    for icon in own:
        if icon["state"] == "failed":
            codes.setdefault(icon["error"], []).append(icon)
    document = {
        "format": 1, "state": "running", "pid": 811, "reachable": True, "version": "1.0.0", "generation": 42,
        "published": stamp(-190), "inSync": True, "lists": lists,
        "icons": {"referenced": len(own), "ready": state.count("ready"), "pending": state.count("pending"),
                  "failed": state.count("failed"), "stale": 0, "retired": 0},
        "downloads": {"active": 0, "queued": 0, "waiting": 0, "blocked": 0, "reason": None, "code": None, "origins": []},
        "cache": {"bytes": sum(icon["bytes"] or 0 for icon in own), "images": state.count("ready"), "lastRepair": None},
        "eviction": {"state": "active", "reason": None, "leases": None},
        "watch": {"mode": "inotify", "reason": None, "overflows": 0, "lastScan": stamp(-5)},
        "publication": {"error": None},
        "failures": [{"code": code, "icons": len(failed), "example": failed[0]["url"], "list": failed[0]["lists"][0],
                      "message": f"the server answered {code}"} for code, failed in codes.items()],
        "verdict": verdict or {"level": "ok", "sentence": f"All {len(own):,} icons are up to date."},
        "problems": list(problems), "listeners": []}
    for key, value in changes.items():
        document[key] = {**document[key], **value} if isinstance(document[key], dict) else value
    return document


def problem(code, sentence, detail=None, commands=(), severity="problem", count=1):
    return {"code": code, "severity": severity, "count": count, "sentence": sentence, "detail": detail, "example": None,
            "commands": list(commands)}


MESSAGES = {"http-404": "the server answered 404 Not Found",
            "dns": "the host name icons.example.com cannot be resolved"}


def report(icon):
    """What `why` says of an icon."""
    failure = None
    if icon["state"] == "failed":
        failure = {"code": icon["error"], "message": MESSAGES.get(icon["error"], "the download failed"), "attempts": 3,
                   "nextAttempt": stamp(2400)}
    response = {"received": stamp(-9000), "etag": '"5e1f"', "lastModified": None,
                "freshness": "fresh for 24 h since it was received (the server gives none)"}
    return {"format": 1, "url": icon["url"], "lists": icon["lists"], "state": icon["state"], "path": icon["path"],
            "next": {"failed": "retry at " + stamp(2400), "pending": "queued for download"}.get(
                icon["state"], "refresh at " + stamp(80000)),
            "failure": failure, "response": response if icon["state"] == "ready" else None,
            "origin": {"name": "https://icons.example.com", "failures": 0, "waitsUntil": None}, "stale": None,
            "trail": [], "pinned": False, "holds": []}


def event(number, kind, message, seconds=0, url=None, code=None, **more):
    return {"id": number, "time": stamp(seconds), "kind": kind, "code": code, "list": None, "url": url,
            "generation": None, "message": message} | more


class ScriptedAgent:
    """Serves a status, icons and events, and notes what it is told.

    `token` may change things, and who has none may do what `anonymous` says: read, or none. `refusals` has the codes that
    paths are answered with. While it hangs, nothing is answered.
    """

    def __init__(self, icons, status, events=(), token="a" * 64, port=0, anonymous="read"):
        self.anonymous = anonymous
        self.icons, self.status, self.events, self.token, self.port = icons, status, list(events), token, port
        self.told, self.asked, self.refusals, self.hangs = [], [], {}, False
        self.changed = threading.Condition()
        self.by_path = {"/" + icon["path"]: index for index, icon in enumerate(icons) if icon["path"]}
        self.by_url = {icon["url"]: icon for icon in icons}

    def __enter__(self):
        agent = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                agent.answer(self)

            def do_POST(self):
                length = int(self.headers.get("Content-Length", 0))
                agent.answer(self, json.loads(self.rfile.read(length) or "null"))

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_):
                pass  # A browser that goes away in the middle of an answer.

        self.is_open = True
        self.server = Server(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        with self.changed:
            self.is_open = False
            self.changed.notify_all()
        self.server.shutdown()
        self.server.server_close()

    def change(self, status=None, events=(), hangs=False):
        """Has the streams tell something new, or the agent hang."""
        with self.changed:
            self.hangs = hangs
            self.status = status or self.status
            self.events += events
            self.changed.notify_all()

    def answer(self, request, body=None):
        path, _, query = request.path.partition("?")
        self.asked.append(path)
        with self.changed:
            self.changed.wait_for(lambda: not self.hangs or not self.is_open)
        if not self.is_open:
            request.close_connection = True
            return None
        if path in self.refusals:
            return self.send(request, {"error": {"code": self.refusals[path], "message": "Try again."}}, 503)
        query = urllib.parse.parse_qs(query)
        token = request.headers.get("X-Syncagent-Token")
        if token not in (None, self.token):
            return self.send(request, {"error": {"code": "unknown-token", "message": "The token is not valid."}}, 403)
        request.access = "change" if token else self.anonymous
        name = "dashboard.html" if path == "/" else path[1:]
        if "/" not in name and pathlib.Path(name).suffix in TYPES and (FILES / name).is_file():
            return self.send(request, (FILES / name).read_bytes(), type=TYPES[pathlib.Path(name).suffix])
        if request.access == "none":
            return self.send(request, {"error": {"code": "forbidden", "message": "Open the page with syncagent dashboard."}}, 403)
        if path in self.by_path:
            return self.send(request, png(self.by_path[path] % 100), type="image/png", cache="private, max-age=31536000, immutable")
        if path == "/icons" and self.by_url.get(query["url"][0], {}).get("state") == "ready":
            return self.send(request, png(0), type="image/png")
        if path == "/v1/status/stream":
            return self.stream(request, "application/x-ndjson", self.statuses())
        if path == "/v1/events" and "text/event-stream" in request.headers.get("Accept", ""):
            since = int(request.headers.get("Last-Event-ID", 0))
            return self.stream(request, "text/event-stream", self.news(since))
        if request.command == "POST" and path != "/v1/why":
            if request.access != "change":
                return self.send(request, {"error": {"code": "forbidden", "message": "Read-only."}}, 403)
            self.told.append((path, body))
            return self.send(request, self.status)
        if path == "/v1/events":
            return self.send(request, {"format": 1, "events": self.events, "gap": False,
                                       "next": self.events[-1]["id"] if self.events else 0})
        if path == "/v1/health":
            return self.send(request, {"format": 1})
        if path == "/v1/settings":
            return self.send(request, {"format": 1, "folders": {"lists": "/etc/syncagent/lists.d"}, "settings": []})
        if path == "/v1/icons":
            start, limit = int(query.get("after", ["0"])[0]), int(query["limit"][0])
            end = start + limit
            return self.send(request, {"format": 1, "icons": self.icons[start:end], "total": len(self.icons),
                                       "next": str(end) if end < len(self.icons) else None})
        if path == "/v1/why":
            icon = self.by_url.get(body["url"] if body else query["url"][0])
            return self.send(request, report(icon)) if icon else self.send(
                request, {"error": {"code": "unknown-url", "message": "Nothing is known of the URL."}}, 404)
        return self.send(request, {"error": {"code": "no-such-path", "message": path}}, 404)

    def head(self, request, status, type, cache="no-store"):
        request.send_response(status)
        policy = POLICY.format(" blob:" if self.anonymous == "none" else "")
        for name, value in {"Content-Type": type, "Content-Security-Policy": policy, "Cache-Control": cache,
                            "X-Content-Type-Options": "nosniff", "X-Syncagent-Anonymous": self.anonymous,
                            "X-Syncagent-Access": getattr(request, "access", "none")}.items():
            request.send_header(name, value)

    def send(self, request, body, status=200, type="application/json", cache="no-store"):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        self.head(request, status, type, cache)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def stream(self, request, type, texts):
        self.head(request, 200, type)
        request.send_header("Transfer-Encoding", "chunked")
        request.end_headers()
        for text in texts:
            data = text.encode()
            request.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            request.wfile.flush()
        request.wfile.write(b"0\r\n\r\n")

    def statuses(self):
        last = None
        while self.is_open:
            with self.changed:
                self.changed.wait_for(lambda: self.status is not last or not self.is_open)
                last = self.status
            if self.is_open:
                yield json.dumps(last) + "\n"

    def news(self, since):
        while self.is_open:
            with self.changed:
                self.changed.wait_for(
                    lambda: any(event["id"] > since for event in self.events) or not self.is_open)
                news = [event for event in self.events if event["id"] > since]
            for event in news:
                since = event["id"]
                yield f"id: {since}\ndata: {json.dumps(event)}\n\n"
