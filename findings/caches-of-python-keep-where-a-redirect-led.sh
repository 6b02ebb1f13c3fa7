#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# requests-cache 1.3.3 and aiohttp-client-cache 0.15.0 (PyPI), both with cache_control=True, on redirects.
# Expected: a redirect with `Cache-Control: no-store`, or with a lifetime of its own, is asked for again as it says, and
# the file behind it is kept as the file says.
# Seen: both keep the last response under the address that was asked for, and look only at the fields of that response.
# What the redirect says is read nowhere, so that `no-store`, `no-cache` and `max-age=1` on it mean nothing. An address
# that leads to the present version of an icon, with a version in its name and a lifetime of a year, gives the old icon
# for a year, without a request. It is so for 302, 303 and 307. CacheControl and hishel, with the same answers, ask
# again each time and find the new icon, and still keep the file that the redirect leads to.
# Why it matters: many sites and asset pipelines serve an icon at a fixed address that redirects to a name with a hash,
# which works in browsers. A launcher with one of these caches shows the old icon after each change, and no field that
# the server sends with the redirect helps, only a short lifetime of the file. Ask with allow_redirects=False and follow
# the Location yourself: that is right with both, as the last lines show.
# Needs: python3 (3.11 or later) with venv.
set -euo pipefail

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
cd "$work"

python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check --no-cache-dir requests-cache==1.3.3 requests==2.34.2 \
    aiohttp-client-cache==0.15.0 aiohttp==3.14.5 cachecontrol==0.14.4 hishel==2.0.0 httpx==0.28.1

# /STATUS/mail.png?FIELD leads to /mail-VERSION.png, which may be kept for a year. /version=N is a new version, and
# /asked tells which paths were asked for.
cat > server.py <<'PYTHON'
import http.server, json, urllib.parse

asked, version = [], "1"

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        global version
        path, _, field = self.path.partition("?")
        if path == "/asked":
            body = json.dumps(asked).encode()
            asked.clear()
            return self.answer(200, body, "no-store")
        if path.startswith("/version="):
            version = path[9:]
            return self.answer(200, b"", "no-store")
        asked.append(path)
        if path.startswith("/mail-"):
            return self.answer(200, b"icon " + path[6:7].encode(), "max-age=31536000")
        self.answer(int(path[1:4]), b"", urllib.parse.unquote(field), f"/mail-{version}.png")

    def answer(self, status, body, cache_control, location=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if cache_control:
            self.send_header("Cache-Control", cache_control)
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass

listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(listener.server_port, flush=True)
listener.serve_forever()
PYTHON
python3 server.py > port 2> log &
server=$!
for _ in $(seq 100); do [ -s port ] && break || sleep 0.1; done

cat > look.py <<'PYTHON'
import asyncio, importlib.metadata, json, sys, time, urllib.parse, urllib.request
import aiohttp_client_cache, hishel, hishel.httpx, requests, requests_cache
from cachecontrol import CacheControl

site = f"http://127.0.0.1:{sys.argv[1]}"

def with_requests(session):
    def get(address, follow=True):
        response = session.get(address, allow_redirects=follow)
        return response.text, response.headers.get("Location")
    return get

def with_hishel():
    client = hishel.httpx.CacheClient(storage=hishel.SqliteStorage(database_path="hishel.db"), rfc=True)
    def get(address, follow=True):
        response = client.get(address, follow_redirects=follow)
        return response.text, response.headers.get("Location")
    return get

def with_aiohttp(loop):
    async def start():
        return aiohttp_client_cache.CachedSession(cache=aiohttp_client_cache.CacheBackend(cache_control=True))
    session = loop.run_until_complete(start())
    async def ask(address, follow):
        response = await session.get(address, allow_redirects=follow)
        return await response.text(), response.headers.get("Location")
    return session, lambda address, follow=True: loop.run_until_complete(ask(address, follow))

def tell(path):
    with urllib.request.urlopen(site + path) as response:
        return response.read()

def look(name, get, status, field):
    address = f"{site}/{status}/mail.png?{urllib.parse.quote(field)}"
    tell("/version=1")
    first = get(address)[0]
    tell("/asked")
    tell("/version=2")
    time.sleep(2 if field == "max-age=1" else 0)
    second = get(address)[0]
    print(f"{name}, {status} {field or '(no field)'}: {first}, then {second},",
          "asked:", *json.loads(tell("/asked")) or ["nothing"])

def look_by_hand(name, get):
    for version in "1", "2":
        tell("/version=" + version)
        _, location = get(site + "/302/by-hand.png?no-store", False)
        icon, _ = get(site + location)
        print(f"{name}, followed by hand: {icon}, asked:", *json.loads(tell("/asked")))

for name in "requests-cache", "aiohttp-client-cache", "cachecontrol", "hishel":
    print(name, importlib.metadata.version(name))
loop = asyncio.new_event_loop()
session, aiohttp_get = with_aiohttp(loop)
clients = {
    "requests-cache": with_requests(requests_cache.CachedSession(backend="memory", cache_control=True)),
    "aiohttp-client-cache": aiohttp_get,
    "CacheControl": with_requests(CacheControl(requests.Session())),
    "hishel": with_hishel(),
}
answers = (302, "no-store"), (302, "no-cache"), (302, "max-age=1"), (302, ""), (303, "no-store"), (307, "no-store")
for name, get in clients.items():
    for status, field in answers:
        look(name, get, status, field)
for name in "requests-cache", "aiohttp-client-cache":
    look_by_hand(name, clients[name])
loop.run_until_complete(session.close())
PYTHON
python/bin/python look.py "$(cat port)" > got

cat > expected <<'TEXT'
requests-cache 1.3.3
aiohttp-client-cache 0.15.0
cachecontrol 0.14.4
hishel 2.0.0
requests-cache, 302 no-store: icon 1, then icon 1, asked: nothing
requests-cache, 302 no-cache: icon 1, then icon 1, asked: nothing
requests-cache, 302 max-age=1: icon 1, then icon 1, asked: nothing
requests-cache, 302 (no field): icon 1, then icon 1, asked: nothing
requests-cache, 303 no-store: icon 1, then icon 1, asked: nothing
requests-cache, 307 no-store: icon 1, then icon 1, asked: nothing
aiohttp-client-cache, 302 no-store: icon 1, then icon 1, asked: nothing
aiohttp-client-cache, 302 no-cache: icon 1, then icon 1, asked: nothing
aiohttp-client-cache, 302 max-age=1: icon 1, then icon 1, asked: nothing
aiohttp-client-cache, 302 (no field): icon 1, then icon 1, asked: nothing
aiohttp-client-cache, 303 no-store: icon 1, then icon 1, asked: nothing
aiohttp-client-cache, 307 no-store: icon 1, then icon 1, asked: nothing
CacheControl, 302 no-store: icon 1, then icon 2, asked: /302/mail.png /mail-2.png
CacheControl, 302 no-cache: icon 1, then icon 2, asked: /302/mail.png
CacheControl, 302 max-age=1: icon 1, then icon 2, asked: /302/mail.png
CacheControl, 302 (no field): icon 1, then icon 2, asked: /302/mail.png
CacheControl, 303 no-store: icon 1, then icon 2, asked: /303/mail.png
CacheControl, 307 no-store: icon 1, then icon 2, asked: /307/mail.png
hishel, 302 no-store: icon 1, then icon 2, asked: /302/mail.png /mail-2.png
hishel, 302 no-cache: icon 1, then icon 2, asked: /302/mail.png
hishel, 302 max-age=1: icon 1, then icon 2, asked: /302/mail.png
hishel, 302 (no field): icon 1, then icon 2, asked: /302/mail.png
hishel, 303 no-store: icon 1, then icon 2, asked: /303/mail.png
hishel, 307 no-store: icon 1, then icon 2, asked: /307/mail.png
requests-cache, followed by hand: icon 1, asked: /302/by-hand.png
requests-cache, followed by hand: icon 2, asked: /302/by-hand.png /mail-2.png
aiohttp-client-cache, followed by hand: icon 1, asked: /302/by-hand.png /mail-1.png
aiohttp-client-cache, followed by hand: icon 2, asked: /302/by-hand.png /mail-2.png
TEXT
diff -u expected got || { echo "no longer as described" >&2; exit 1; }
cat got
echo "as described"
