#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# CacheControl 0.14.4, hishel 2.0.0 (rfc=True), httplib2 0.32.1, requests-cache 1.3.3, aiohttp-client-cache 0.15.0 (both
# with cache_control=True) and acachecontrol 0.3.7 (PyPI), on responses with the field Age.
# Expected: a response that tells with `Age: 86000` that it has been 86000 seconds in a cache on its way, and with
# `max-age=86400` that it may be kept for a day, is fresh for 400 more seconds (RFC 9111, 4.2.3).
# Seen: none of the six reads Age. Each keeps the icon for a whole day from now, and what comes with an Age over its
# max-age, which is stale on arrival, as well. A Date of yesterday, which says the same where no cache on the way sets a
# new one, is counted by CacheControl, hishel and httplib2 only; the other three keep that icon for another day, too.
# Why it matters: a content delivery network keeps icons up to max-age, says so with Age, and often has a Date of its
# own. A launcher behind it shows an old icon up to twice as long as its site allows, and one that hands it on adds
# another time. Nobody sees it in a test with the site itself, which sends no Age. Take Age off the lifetime yourself;
# CacheControl has a place for it, its heuristics, as below.
# Needs: python3 (3.11 or later) with venv.
set -euo pipefail

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
cd "$work"

python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check --no-cache-dir cachecontrol==0.14.4 requests==2.34.2 \
    hishel==2.0.0 httpx==0.28.1 httplib2==0.32.1 requests-cache==1.3.3 aiohttp-client-cache==0.15.0 aiohttp==3.14.5 \
    acachecontrol==0.3.7

# Each response is a new picture. The query has the seconds of max-age, Age and since Date.
cat > server.py <<'PYTHON'
import email.utils, http.server, itertools, time

pictures = itertools.count(1)

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        max_age, age, since = self.path.partition("?")[2].split(",")
        body = b"icon %d" % next(pictures)
        self.send_response_only(200)
        self.send_header("Date", email.utils.formatdate(time.time() - int(since or 0), usegmt=True))
        self.send_header("Cache-Control", "max-age=" + max_age)
        if age:
            self.send_header("Age", age)
        self.send_header("Content-Length", str(len(body)))
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
import asyncio, importlib.metadata, re, sys, time
import acachecontrol, aiohttp_client_cache, hishel, hishel.httpx, httplib2, requests, requests_cache
from cachecontrol import CacheControl
from cachecontrol.heuristics import BaseHeuristic

site = f"http://127.0.0.1:{sys.argv[1]}"
loop = asyncio.new_event_loop()

async def start():
    kept = aiohttp_client_cache.CachedSession(cache=aiohttp_client_cache.CacheBackend(cache_control=True))
    return kept, await acachecontrol.AsyncCacheControl().__aenter__()

def with_aiohttp(session):
    async def get(address):
        async with session.get(address) as response:
            return await response.text()
    return lambda address: loop.run_until_complete(get(address))

def with_requests(session):
    return lambda address: session.get(address).text

# What to do.
class CountAge(BaseHeuristic):
    def update_headers(self, response):
        lifetime = re.search(r"max-age=(\d+)", response.headers.get("Cache-Control", ""))
        age = response.headers.get("Age", "")
        if not lifetime or not age.isdigit():
            return {}
        return {"cache-control": f"max-age={max(int(lifetime[1]) - int(age), 0)}"}

    def warning(self, response):
        return None

sessions = loop.run_until_complete(start())
http = httplib2.Http("httplib2")
client = hishel.httpx.CacheClient(storage=hishel.SqliteStorage(database_path="hishel.db"), rfc=True)
caches = {
    "CacheControl": with_requests(CacheControl(requests.Session())),
    "hishel": lambda address: client.get(address).text,
    "httplib2": lambda address: http.request(address)[1].decode(),
    "requests-cache": with_requests(requests_cache.CachedSession(backend="memory", cache_control=True)),
    "aiohttp-client-cache": with_aiohttp(sessions[0]),
    "acachecontrol": with_aiohttp(sessions[1]),
    "mended CacheControl": with_requests(CacheControl(requests.Session(), heuristic=CountAge())),
}
*six, mended = caches
for name in six:
    print(name, importlib.metadata.version(name))
cases = [
    ("no Age", "86400,,", 0),
    ("Age: 86500", "86400,86500,", 0),
    ("a Date of 86500 seconds ago", "86400,,86500", 0),
    ("both", "86400,86500,86500", 0),
    ("max-age=30 with Age: 28, after 3 seconds", "30,28,", 3),
]
for case, query, wait in cases:
    addresses = {name: f"{site}/{name.replace(' ', '-')}.png?{query}" for name in caches}
    first = {name: get(addresses[name]) for name, get in caches.items()}
    time.sleep(wait)
    kept = [name for name, get in caches.items() if get(addresses[name]) == first[name]]
    names = "all six" if kept[:6] == six else ", ".join(name for name in six if name in kept)
    print(f"{case}: kept by {names}; mended CacheControl: {'kept' if mended in kept else 'asked'}")
for session in sessions:
    loop.run_until_complete(session.close() if hasattr(session, "close") else session.__aexit__(None, None, None))
PYTHON
python/bin/python look.py "$(cat port)" > got

cat > expected <<'TEXT'
CacheControl 0.14.4
hishel 2.0.0
httplib2 0.32.1
requests-cache 1.3.3
aiohttp-client-cache 0.15.0
acachecontrol 0.3.7
no Age: kept by all six; mended CacheControl: kept
Age: 86500: kept by all six; mended CacheControl: asked
a Date of 86500 seconds ago: kept by requests-cache, aiohttp-client-cache, acachecontrol; mended CacheControl: asked
both: kept by requests-cache, aiohttp-client-cache, acachecontrol; mended CacheControl: asked
max-age=30 with Age: 28, after 3 seconds: kept by all six; mended CacheControl: asked
TEXT
diff -u expected got || { echo "no longer as described" >&2; exit 1; }
cat got
echo "as described"
