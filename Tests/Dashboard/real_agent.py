# SPDX-License-Identifier: Apache-2.0
"""The built program with an origin of its own: who sees what of its listeners."""
import contextlib
import hashlib
import http.client
import http.server
import json
import os
import pathlib
import plistlib
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.parse

from expectations import expect
from scripted_agent import png

NAMES = ["Mail", "Maps", "Music"]
# The page asks for 1,000 icons at a time.
MANY = 2_500


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def website(pages, port=0):
    """Serves texts and bytes by path; others are not found."""
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_GET(self):
            body = pages.get(self.path.partition("?")[0], b"" if self.path == "/favicon.ico" else None)
            body = body.encode() if isinstance(body, str) else body
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", "image/png" if (body or b"")[1:4] == b"PNG" else "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 256

        def handle_error(self, *_):
            pass

    server = Server(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


class Agent:
    """An agent with one list, whose last icon does not exist."""

    def __init__(self, program, folder, origin):
        self.folder = pathlib.Path(folder)
        self.urls = [f"http://127.0.0.1:{origin}/{name}.png?size=64&of=ü" for name in NAMES]
        self.missing = f"http://127.0.0.1:{origin}/gone.png"
        self.dashboard, self.images, self.kiosk = free_port(), free_port(), free_port()
        self.options = [part for name in ("lists", "cache", "state") for part in (f"--{name}", str(self.folder / name))]
        self.options += ["--socket", str(self.folder / "control.sock")]
        self.program = str(program)
        self.environment = {**os.environ, "SYNCAGENT_CACHE_MIN_FREE": "0%", "SYNCAGENT_FETCH_PER_HOST": "32",
                            "SYNCAGENT_DASHBOARD_LISTEN": f"127.0.0.1:{self.dashboard}",
                            "SYNCAGENT_SERVE_LISTEN": f"127.0.0.1:{self.images}", "SYNCAGENT_SERVE_LISTS": "true",
                            "SYNCAGENT_SERVE_ORIGINS": f"http://localhost:{self.kiosk},null",
                            "SYNCAGENT_SERVE_PLACEHOLDER": str(self.folder / "placeholder.png")}
        (self.folder / "lists").mkdir()
        (self.folder / "placeholder.png").write_bytes(png("placeholder"))
        self.drop("apps.plist", [*self.urls, self.missing])

    def drop(self, name, urls):
        apps = [{"name": urllib.parse.unquote(pathlib.PurePath(url.partition("?")[0]).stem), "icon": url} for url in urls]
        (self.folder / "new").write_bytes(plistlib.dumps(apps))
        (self.folder / "new").rename(self.folder / "lists" / name)

    def __enter__(self):
        self.process = subprocess.Popen(
            [self.program, "run", "--allow-root", "--allow-network", "127.0.0.0/8", "--log-level", "warning", *self.options],
            env=self.environment)
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(60)
        if code:
            raise AssertionError(f"the agent ended with {code}")

    def ask(self, path, port=None, method="GET", body=None, **fields):
        connection = http.client.HTTPConnection("127.0.0.1", port or self.dashboard, timeout=60)
        headers = {name.replace("_", "-"): value for name, value in fields.items()}
        connection.request(method, path, body=body, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def wait_until(self, is_so, limit=120):
        end = time.monotonic() + limit
        while True:
            try:
                status = json.loads(self.ask("/v1/status")[2])
                if is_so(status):
                    return status
            except (OSError, http.client.HTTPException):
                pass
            if time.monotonic() > end:
                raise AssertionError("the agent does not come to it")
            time.sleep(0.05)

    @contextlib.contextmanager
    def command(self, *options):
        """`syncagent dashboard`, with the address that it prints."""
        command = subprocess.Popen([self.program, "dashboard", *options, *self.options], stdout=subprocess.PIPE, text=True,
                                   env=self.environment)
        try:
            yield command.stdout.readline().strip()
        finally:
            command.send_signal(signal.SIGINT)
            code = command.wait(60)
        if code:
            raise AssertionError(f"syncagent dashboard ended with {code}")


def by_url(url):
    return "/icons?url=" + urllib.parse.quote(url, safe="")


def check_real_agent(program, check, page, screenshots):
    pages = {f"/{name}.png": png(name) for name in NAMES}
    pages |= {f"/many/{index}.png": png(index % 50) for index in range(MANY)}
    with tempfile.TemporaryDirectory() as folder, website(pages) as origin:
        with Agent(program, folder, origin) as agent:
            agent.wait_until(lambda status: status["icons"]["ready"] == 3 and status["icons"]["failed"] == 1 and status["inSync"])
            check("agent: images", images, agent)
            check("agent: hosts, origins and tokens", doors, agent)
            check("agent: page", whole_page, page, agent, screenshots)
            check("agent: foreign site", foreign, page, agent)
            check("agent: kiosk", kiosk, page, agent)
            check("agent: rebound host", rebound, page, agent)
            check("agent: many icons", many, page, agent, origin, screenshots)
            check("agent: command", command, agent)
        check("agent: kiosk offline", offline_kiosk, page, Agent, program)
        check("agent: readers", readers, page, Agent, program, origin)


def images(agent):
    for port in (agent.dashboard, agent.images):
        for name, url in zip(NAMES, agent.urls):
            for path in (by_url(url), "/by-url/" + hashlib.sha256(url.encode()).hexdigest()):
                status, fields, body = agent.ask(path, port)
                digest = hashlib.sha256(png(name)).hexdigest()
                expect(f"the image at {path}", status == 200 and body == png(name))
                expect("its tag", fields["ETag"] == f'"{digest}"' and fields["Content-Type"] == "image/png")
                expect("304", agent.ask(path, port, If_None_Match=fields["ETag"])[0] == 304)
            path = f"/icons/{digest[:2]}/{digest}.png"
            expect("immutable", "immutable" in agent.ask(path, port)[1]["Cache-Control"])
            status, fields, body = agent.ask(path, port, Range="bytes=10-19")
            expect("a part", status == 206 and body == png(name)[10:20])
        status, _, body = agent.ask(by_url(agent.missing), port)
        expect(f"why not: {body}", status == 404 and json.loads(body)["error"]["code"] == "http-404")
        expect("unknown", json.loads(agent.ask(by_url("x"), port)[2])["error"]["code"] == "unknown-url")
    for path in ("/", "/v1/status", "/dashboard.js"):
        expect("images only", agent.ask(path, agent.images)[0] == 404)


def doors(agent):
    everything = ("/", "/dashboard.js", "/v1/status", "/v1/icons?limit=10", by_url(agent.urls[0]))
    for path in everything:
        for host in ("rebound.example", f"rebound.example:{agent.dashboard}", "127.0.0.1", "127.0.0.1:1", "localhost"):
            status, fields, body = agent.ask(path, Host=host)
            expect(f"{host} gets nothing of {path}", status == 421 and b"Mail" not in body)
        for fields in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec_Fetch_Site": "cross-site"},
                       {"Origin": f"http://localhost:{agent.dashboard}"}, {"Sec_Fetch_Site": "same-site"}):
            status, answered, body = agent.ask(path, **fields)
            expect(f"{fields} gets nothing of {path}", status == 403 and not any(
                name.lower().startswith("access-control") for name in answered))
        expect("its own origin", agent.ask(path, Origin=f"http://127.0.0.1:{agent.dashboard}")[0] == 200)
        expect("a wrong token", agent.ask(path, X_Syncagent_Token="0" * 64)[0] == 403)
        expect("no permission for other sites", agent.ask(path, method="OPTIONS", Origin="http://evil.example")[0] == 403)
    for path in ("sync", "pause", "resume", "pin", "unpin", "mute", "unmute", "evict", "repair", "retry", "refresh", "purge",
                 "reload", "dashboard"):
        status = agent.ask(f"/v1/{path}", method="POST", body=b"{}")[0]
        expect(f"{path} takes a token: {status}", status in (403, 404))


def whole_page(page, agent, screenshots):
    page.look(1400, "light")
    with agent.command("--no-open") as url:
        page.open(url)
        page.wait("the icons", lambda: page.text("#icons-count") == "4 icons")
        page.wait("the images", lambda: page.js(
            "return [...document.querySelectorAll('.cell img:not([hidden])')].filter(i => i.naturalWidth === 64).length") == 3)
        expect("nothing on the console", page.messages() == [])
        flaws = page.flaws()
        expect(f"axe-core: {flaws}", flaws == [])
        expect("no token in the address", "token" not in page.driver.current_url)
        page.wait("buttons", lambda: page.count("#actions") == 1)
        page.click("#pause")
        agent.wait_until(lambda status: status["state"] == "paused")
        page.wait("paused", lambda: page.text("#pause") == "Resume")
        page.click("#pause")
        agent.wait_until(lambda status: status["state"] == "running")
        page.click(".cell")
        page.wait("details", lambda: "Next" in (page.text("#details dl") or ""))
        if screenshots:
            page.save(screenshots / "agent.png")
        expect("nothing on the console", page.messages() == [])


def foreign(page, agent):
    """A page of another origin of this machine tries everything that pages can."""
    target = f"http://127.0.0.1:{agent.dashboard}"
    with website({"/": "<!doctype html><title>foreign</title><body></body>"}) as port:
        page.open(f"http://localhost:{port}/")
        tried = page.driver.execute_async_script("""
            const [target, image, done] = arguments, got = {};
            const attempts = [
              ['fetch', () => fetch(target + '/v1/status').then(r => r.text())],
              ['no-cors', () => fetch(target + '/v1/status', {mode: 'no-cors'}).then(r => r.text())],
              ['post', () => fetch(target + '/v1/pause', {method: 'POST', mode: 'no-cors'}).then(r => r.text())],
              ['token', () => fetch(target + '/v1/pause', {method: 'POST', headers: {'X-Syncagent-Token': 'x'}})],
              ['stream', () => new Promise((yes, no) => { const s = new EventSource(target + '/v1/events');
                s.onopen = () => yes('open'); s.onerror = () => { s.close(); no('error'); }; })],
              ...['img', 'script', 'iframe'].map(tag => [tag, () => new Promise((yes, no) => {
                const e = document.createElement(tag);
                e.onload = () => {
                  // A frame that was refused shows the browser's own page, which nobody may read.
                  if (tag === 'iframe') return e.contentDocument ? yes('readable') : no('refused');
                  yes('loaded');
                };
                e.onerror = () => no('error');
                e.src = target + ({img: image, script: '/dashboard.js', iframe: '/'})[tag];
                document.body.append(e); })])];
            (async () => {
              for (const [name, attempt] of attempts) {
                try { got[name] = String(await attempt()); } catch { got[name] = null; }
              }
              done(got);
            })();""", target, by_url(agent.urls[0]))
        # An opaque answer is one that the page cannot read.
        expect(f"it gets nothing: {tried}", all(not value for value in tried.values()))
        agent.wait_until(lambda status: status["state"] == "running")


def rebound(page, agent):
    page.open(f"http://rebound.example:{agent.dashboard}/v1/status")
    expect("nothing but a refusal", "wrong-host" in page.text("body") and "apps.plist" not in page.text("body"))
    page.open(f"http://rebound.example:{agent.dashboard}/")
    expect("no page", page.count("#verdict") == 0)


ARTICLE = pathlib.Path(__file__).resolve().parents[2] / "Sources/SyncAgent/SyncAgent.docc/ServingImages.md"


def kiosk_page(agent):
    """The page of the article, with the address of this agent."""
    page = ARTICLE.read_text().split("```html\n")[1].split("```")[0]
    return page.replace("127.0.0.1:8081", f"127.0.0.1:{agent.images}")


def shown(page):
    """How many pictures are shown: the icons of the list, and a placeholder for the one that does not exist."""
    return page.js("return [...document.images].filter(i => i.complete && i.naturalWidth === 64).length")


def kiosk(page, agent):
    with website({"/": kiosk_page(agent)}) as port:
        page.open(f"http://localhost:{port}/")
        page.wait("the refusal", lambda: any("CORS" in message for message in page.messages()))
        expect("the script of another site gets nothing", page.count("li") == 0)
    with website({"/": kiosk_page(agent)}, agent.kiosk):
        page.open(f"http://localhost:{agent.kiosk}/")
        page.wait("the pictures of the list", lambda: shown(page) == 4)
        # Another image must have another address, or an open page would show the one that it has.
        fixed = page.js("return [...document.images].filter(i => /\\/icons\\/..\\/[0-9a-f]{64}\\./.test(i.src)).length")
        expect("images are named by their digests", fixed == 3)
        expect("nothing on the console", page.messages() == [])


def offline_kiosk(page, make, program):
    """The origin is gone, and so is the network: the images are still there, also after a restart of both."""
    with tempfile.TemporaryDirectory() as folder:
        with website({f"/{name}.png": png(name) for name in NAMES}) as port:
            agent = make(program, folder, port)
            agent.environment |= {"SYNCAGENT_FETCH_RETRY_BASE": "1s", "SYNCAGENT_FETCH_RETRY_MAX": "1s"}
            with agent:
                agent.wait_until(lambda status: status["icons"]["ready"] == 3 and status["inSync"])
        with agent:
            agent.wait_until(lambda status: status["icons"]["ready"] == 3 and status["inSync"])
            file = pathlib.Path(folder) / "kiosk.html"
            file.write_text(kiosk_page(agent))
            page.open(file.as_uri())
            page.wait("the pictures of a page from disk", lambda: shown(page) == 4)
            expect("nothing on the console", page.messages() == [])


def readers(page, make, program, origin):
    """Only a group may read: the page has its images by its token, and nobody has them without one."""
    page.look(1400, "light")
    with tempfile.TemporaryDirectory() as folder:
        agent = make(program, folder, origin)
        agent.environment["SYNCAGENT_CONTROL_READERS"] = "group"
        with agent:
            def answers():
                try:
                    return agent.ask("/")[0] == 200
                except OSError:
                    return False
            page.wait("the listener", answers)
            with agent.command("--no-open", "--read-only") as url:
                page.open(url)
                page.wait("the images", lambda: page.js("""return [...document.querySelectorAll('.cell img:not([hidden])')]
                    .filter(i => i.naturalWidth === 64 && i.src.startsWith('blob:')).length""") == 3)
                expect("nothing on the console", page.messages() == [])
                token = url.partition("#token=")[2]
                digest = hashlib.sha256(png(NAMES[0])).hexdigest()
                for path in (by_url(agent.urls[0]), "/by-url/" + hashlib.sha256(agent.urls[0].encode()).hexdigest(),
                             f"/icons/{digest[:2]}/{digest}.png", "/v1/icons"):
                    expect(f"{path} with a token", agent.ask(path, X_Syncagent_Token=token)[0] == 200)
                    for fields in ({}, {"X_Syncagent_Token": "0" * 64}, {"Cookie": f"token={token}"}):
                        expect(f"{path} without one", agent.ask(path, **fields)[0] == 403)
            expect("the token is over", agent.ask(path, X_Syncagent_Token=token)[0] == 403)


def many(page, agent, origin, screenshots):
    page.look(1400, "dark")
    # The token of a page before is over.
    page.open(f"http://127.0.0.1:{agent.dashboard}/")
    page.js("sessionStorage.clear()")
    agent.drop("many.plist", [f"http://127.0.0.1:{origin}/many/{index}.png" for index in range(MANY)])
    page.open(f"http://127.0.0.1:{agent.dashboard}/")
    page.wait("work", lambda: "ownloading" in (page.text("#verdict") or "") or page.text("#icons-count") == f"{MANY + 4:,} icons")
    agent.wait_until(lambda status: status["icons"]["ready"] == MANY + 3, 600)
    page.wait("all icons are ready", lambda: page.text("#states [data-state='ready'] .number") == f"{MANY + 3:,}")
    expect("few elements", page.count(".cell") < 300)
    page.js("document.getElementById('icons').scrollTop = 1e9")
    page.wait("the last images", lambda: page.js(
        "return [...document.querySelectorAll('.cell img')].filter(i => i.naturalWidth === 64).length") > 20)
    messages = page.messages()
    expect(f"nothing on the console: {messages}", messages == [])
    if screenshots:
        page.save(screenshots / "agent-many.png")


def command(agent):
    """The token of the command is worth something as long as the command runs."""
    with agent.command("--no-open") as url:
        address, _, token = url.partition("#token=")
        expect(url, address == f"http://127.0.0.1:{agent.dashboard}/" and len(token) == 64)
        expect("changes", agent.ask("/v1/sync", method="POST", X_Syncagent_Token=token)[0] == 200)
        expect("changes", agent.ask("/v1/sync", method="POST", Authorization=f"Bearer {token}")[0] == 200)
    # The agent notices the end of the command soon after it.
    agent.wait_until(lambda _: agent.ask("/v1/sync", method="POST", X_Syncagent_Token=token)[0] == 403)
    with agent.command("--no-open", "--read-only") as url:
        token = url.partition("#token=")[2]
        expect("reads", agent.ask("/v1/status", X_Syncagent_Token=token)[0] == 200)
        expect("and no more", agent.ask("/v1/sync", method="POST", X_Syncagent_Token=token)[0] == 403)
