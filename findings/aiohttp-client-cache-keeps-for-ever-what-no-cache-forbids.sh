#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# aiohttp-client-cache 0.15.0 (PyPI) with cache_control=True, which is to follow the fields of the response.
# Expected: after `Cache-Control: no-cache`, each use of an icon asks the server whether it has changed. Expires with a
# past date, or with 0 or -1, which are no dates, means that the icon is stale at once.
# Seen: of the response it knows max-age, no-store and an Expires that is a date. `no-cache` is nothing to it, and so is
# `must-revalidate`; `Expires: 0` and `Expires: -1` cannot be read and count as no Expires. What has no lifetime then is
# kept without end, as its expire_after is by default: the old icon is shown, and the server never hears of it again.
# Beside max-age, no-cache is passed over too. `max-age=0` is followed, but by keeping nothing, so that no request is a
# conditional one and the icon is downloaded each time. requests-cache, which it is based on, and hishel do it right.
# Why it matters: `no-cache` with an ETag is the usual way to have changes of icons seen at once, and one that works
# with libsoup, where max-age=0 does not. `Expires: 0` and `Expires: -1` are what many web programs send. A launcher
# with this cache shows the first icon that it got, until somebody empties the cache. `max-age=1` works with all of
# these; of a server that sends `no-cache`, ask with `refresh=True`, which makes each request a conditional one.
# Needs: python3 (3.11 or later) with venv.
set -euo pipefail

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
cd "$work"

python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check --no-cache-dir requests-cache==1.3.3 requests==2.34.2 \
    aiohttp-client-cache==0.15.0 aiohttp==3.14.5 hishel==2.0.0 httpx==0.28.1

# The query says which fields a response has. /version=N is a new version, and /asked tells how was asked.
cat > server.py <<'PYTHON'
import http.server, json, urllib.parse

asked, version = [], "1"

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        global version
        path, _, query = self.path.partition("?")
        fields, status, body = {"ETag": f'"{version}"'}, 200, b"icon " + version.encode()
        if path == "/asked":
            body = json.dumps(asked).encode()
            asked.clear()
        elif path.startswith("/version="):
            version = path[9:]
        else:
            fields.update(urllib.parse.parse_qsl(query))
            known = self.headers.get("If-None-Match")
            asked.append("conditional" if known else "plain")
            if known == fields["ETag"]:
                status, body = 304, b""
        self.send_response(status)
        if status == 200:
            self.send_header("Content-Length", str(len(body)))
        for name, value in fields.items():
            self.send_header(name, value)
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
import aiohttp_client_cache, hishel, hishel.httpx, requests_cache

site = f"http://127.0.0.1:{sys.argv[1]}"

def with_aiohttp(loop):
    async def start():
        return aiohttp_client_cache.CachedSession(cache=aiohttp_client_cache.CacheBackend(cache_control=True))
    session = loop.run_until_complete(start())
    async def ask(address, **options):
        return await (await session.get(address, **options)).text()
    return session, lambda address, **options: loop.run_until_complete(ask(address, **options))

def tell(path):
    with urllib.request.urlopen(site + path) as response:
        return response.read()

def look(name, get, fields, note=""):
    address = f"{site}/{(name + note).replace(' ', '-')}.png?{urllib.parse.urlencode(fields)}"
    tell("/version=1")
    get(address)
    tell("/asked")
    shown = []
    for version in "1", "2":
        tell("/version=" + version)
        time.sleep(2.5 if ("Cache-Control", "max-age=1") in fields else 0)
        shown.append(get(address))
    what = ", ".join(f"{field}: {value}" for field, value in fields)
    print(f"{name}{note}, {what}: {', then '.join(shown)}; asked:", *json.loads(tell("/asked")) or ["nothing"])

for name in "aiohttp-client-cache", "requests-cache", "hishel":
    print(name, importlib.metadata.version(name))
loop = asyncio.new_event_loop()
session, aiohttp_get = with_aiohttp(loop)
requests_session = requests_cache.CachedSession(backend="memory", cache_control=True)
hishel_client = hishel.httpx.CacheClient(storage=hishel.SqliteStorage(database_path="hishel.db"), rfc=True)
control, expires = "Cache-Control", "Expires"
# An icon that is the same, then another one.
for fields in [
    [(control, "no-cache")], [(control, "no-cache, must-revalidate"), (expires, "0")],
    [(control, "no-cache, max-age=600")], [(expires, "-1")], [(expires, "Thu, 01 Jan 1970 00:00:00 GMT")],
    [(control, "max-age=0")], [(control, "max-age=1")],
]:
    look("aiohttp-client-cache", aiohttp_get, fields)
    if fields == [(control, "no-cache")]:
        look("aiohttp-client-cache", lambda address: aiohttp_get(address, refresh=True), fields, " with refresh")
    if fields in ([(control, "no-cache")], [(expires, "-1")], [(control, "max-age=1")]):
        look("requests-cache", lambda address: requests_session.get(address).text, fields)
        look("hishel", lambda address: hishel_client.get(address).text, fields)
loop.run_until_complete(session.close())
PYTHON
python/bin/python look.py "$(cat port)" > got

cat > expected <<'TEXT'
aiohttp-client-cache 0.15.0
requests-cache 1.3.3
hishel 2.0.0
aiohttp-client-cache, Cache-Control: no-cache: icon 1, then icon 1; asked: nothing
aiohttp-client-cache with refresh, Cache-Control: no-cache: icon 1, then icon 2; asked: conditional conditional
requests-cache, Cache-Control: no-cache: icon 1, then icon 2; asked: conditional conditional
hishel, Cache-Control: no-cache: icon 1, then icon 2; asked: conditional conditional
aiohttp-client-cache, Cache-Control: no-cache, must-revalidate, Expires: 0: icon 1, then icon 1; asked: nothing
aiohttp-client-cache, Cache-Control: no-cache, max-age=600: icon 1, then icon 1; asked: nothing
aiohttp-client-cache, Expires: -1: icon 1, then icon 1; asked: nothing
requests-cache, Expires: -1: icon 1, then icon 2; asked: conditional conditional
hishel, Expires: -1: icon 1, then icon 2; asked: conditional conditional
aiohttp-client-cache, Expires: Thu, 01 Jan 1970 00:00:00 GMT: icon 1, then icon 2; asked: plain plain
aiohttp-client-cache, Cache-Control: max-age=0: icon 1, then icon 2; asked: plain plain
aiohttp-client-cache, Cache-Control: max-age=1: icon 1, then icon 2; asked: plain plain
requests-cache, Cache-Control: max-age=1: icon 1, then icon 2; asked: conditional conditional
hishel, Cache-Control: max-age=1: icon 1, then icon 2; asked: conditional conditional
TEXT
diff -u expected got || { echo "no longer as described" >&2; exit 1; }
cat got
echo "as described"
