#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# httplib2 0.32.1 (PyPI) with a cache folder, in front of Python's http.server.
# Expected: HEAD says what GET would send, and leaves the cache alone or refreshes what it knows of the file.
# Seen: GET and HEAD share one entry, and the empty body of HEAD is stored in it, with the size and the date of the
# file. The next GET is a conditional request; the server answers 304, rightly, and httplib2 hands out status 200, the
# Content-Length of the icon, and no bytes. It stays so for as long as the file does not change. The same happens to a
# program that has the icon in its cache: HEAD after a change of the file throws the old picture away and puts the new
# date over an empty body. CacheControl, which began as a port of the same logic for requests, stores no body of HEAD.
# Why it matters: a launcher that asks for the size or the type first, or looks whether an icon has changed before it
# downloads it, never gets the icon, and neither the status nor a missing file tells; only the length does. A request
# with `cache-control: no-cache` mends the entry until the next HEAD after a change. Use GET alone, or send HEAD through
# an Http() without a cache.
# Needs: python3 (3.10 or later) with venv.
set -euo pipefail

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
cd "$work"

python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check --no-cache-dir httplib2==0.32.1 pyparsing==3.2.5 \
    cachecontrol==0.14.4 requests==2.32.5 filelock==3.20.0

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir site
python3 -m http.server --bind 127.0.0.1 --directory site "$port" > log 2>&1 &
server=$!
python3 - "$port" <<'PYTHON'
import socket, sys, time
for _ in range(100):
    try:
        socket.create_connection(("127.0.0.1", int(sys.argv[1]))).close()
        break
    except OSError:
        time.sleep(0.1)
PYTHON

cat > look.py <<'PYTHON'
import os, sys
import httplib2, requests
from cachecontrol import CacheControl
from cachecontrol.caches import FileCache

address = f"http://127.0.0.1:{sys.argv[1]}/mail.png"

def put(size, day):
    with open("site/.mail.png.new", "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n".ljust(size, b"."))
    os.utime("site/.mail.png.new", (day * 86400, day * 86400))
    os.rename("site/.mail.png.new", "site/mail.png")

def with_httplib2(folder):
    client = httplib2.Http(folder)
    def ask(method, **fields):
        response, body = client.request(address, method, headers=fields)
        return response.status, response.get("content-length"), body
    return ask

def with_cachecontrol(folder):
    session = CacheControl(requests.Session(), cache=FileCache(folder))
    def ask(method, **fields):
        response = session.request(method, address, headers=fields)
        return response.status_code, response.headers.get("Content-Length"), response.content
    return ask

def show(what, ask, method, **fields):
    status, length, body = ask(method, **fields)
    print(f"{what}{method}: {status}, Content-Length {length}, {len(body)} bytes")

print("httplib2", httplib2.__version__)
for name, client in ("httplib2", with_httplib2), ("CacheControl", with_cachecontrol):
    put(3000, 20000)
    ask = client("first-" + name)
    for method in "HEAD", "GET", "GET":
        show(f"{name}, new: ", ask, method)
    show(f"{name}, no-cache: ", ask, "GET", **{"cache-control": "no-cache"})
    show(f"{name}, then: ", ask, "GET")
    put(4000, 20001)
    for method in "HEAD", "GET", "GET":
        show(f"{name}, changed: ", ask, method)
PYTHON
python/bin/python look.py "$port" > got
sed -n 's/.*"\(GET\|HEAD\) [^"]*" \([0-9]*\).*/server: \1 \2/p' log | head -8 >> got

cat > expected <<'TEXT'
httplib2 0.32.1
httplib2, new: HEAD: 200, Content-Length 3000, 0 bytes
httplib2, new: GET: 200, Content-Length 3000, 0 bytes
httplib2, new: GET: 200, Content-Length 3000, 0 bytes
httplib2, no-cache: GET: 200, Content-Length 3000, 3000 bytes
httplib2, then: GET: 200, Content-Length 3000, 3000 bytes
httplib2, changed: HEAD: 200, Content-Length 4000, 0 bytes
httplib2, changed: GET: 200, Content-Length 4000, 0 bytes
httplib2, changed: GET: 200, Content-Length 4000, 0 bytes
CacheControl, new: HEAD: 200, Content-Length 3000, 0 bytes
CacheControl, new: GET: 200, Content-Length 3000, 3000 bytes
CacheControl, new: GET: 200, Content-Length 3000, 3000 bytes
CacheControl, no-cache: GET: 200, Content-Length 3000, 3000 bytes
CacheControl, then: GET: 200, Content-Length 3000, 3000 bytes
CacheControl, changed: HEAD: 200, Content-Length 4000, 0 bytes
CacheControl, changed: GET: 200, Content-Length 4000, 4000 bytes
CacheControl, changed: GET: 200, Content-Length 4000, 4000 bytes
server: HEAD 200
server: GET 304
server: GET 304
server: GET 200
server: GET 304
server: HEAD 200
server: GET 304
server: GET 304
TEXT
diff -u expected got || { echo "no longer as described" >&2; exit 1; }
cat got
echo "as described"
