#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The file servers of aiohttp 3.14.5, Bottle 0.13.4, Falcon 4.4.0, ServeStatic 4.4.0, Tornado 6.6.1 and WhiteNoise
# 6.12.0 (PyPI) and H2O 2.2.5 (Debian 12: h2o 2.2.5+dfsg2-7) beside those of Flask 3.1.3 and Starlette 1.10.0 (PyPI). A
# client has the first half of an icon, the icon is replaced by a later one, and the client asks for the second half
# with If-Range and the ETag that it got, as browsers do when they go on with a download.
# Expected: the whole new icon with status 200. If-Range says that the range is wanted only if the file is still the
# same, and whoever gets it must leave Range aside if it is not (RFC 9110, 13.1.5). All of these servers send an ETag.
# Seen: seven of them answer with 206 and the second half of the new icon, so the client ends with a file of two halves,
# and nobody reports an error. Six never look at If-Range, be it an ETag or a date. aiohttp does if it is a date, as its
# documentation of `if_range` says, and sends the range if it is the ETag that aiohttp itself gave. Falcon hands
# If-Range to programs, but its static routes leave it out. (Tornado has static_hash_cache=False here, as otherwise not
# even its ETag changes.)
# Why it matters: if both icons have the same size, as of bitmaps or by chance, the joined file has the right length,
# and a cache keeps it; else a decoder may stop half way or not notice. What gives it away is in the answer 206: its
# ETag is the new one. A client that goes on with a download must compare it with the one it has, and begin anew if it
# differs.
# Needs: the lists of `apt-get update` (Debian 12); libssl3, libstdc++6 and zlib1g; python3 (3.11 or 3.12) with venv.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

apt-get -qq -o APT::Sandbox::User=root download h2o=2.2.5+dfsg2-7 libyaml-0-2
for package in *.deb; do dpkg -x "$package" root; done
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check --no-cache-dir aiohttp==3.14.5 bottle==0.13.4 falcon==4.4.0 \
    flask==3.1.3 servestatic==4.4.0 starlette==1.10.0 tornado==6.6.1 whitenoise==6.12.0 uvicorn==0.54.0 \
    werkzeug==3.1.9 anyio==4.16.0

# Each serves the folder "icons" at the port given.
cat > serve.py <<'PYTHON'
import sys
from wsgiref.simple_server import WSGIRequestHandler, make_server

name, port = sys.argv[1], int(sys.argv[2])

def wsgi(application):
    WSGIRequestHandler.log_message = lambda *arguments: None
    make_server("127.0.0.1", port, application).serve_forever()

def missing(environ, start_response):
    start_response("404 Not Found", [])
    return []

if name == "aiohttp":
    from aiohttp import web
    application = web.Application()
    application.router.add_static("/", "icons")
    web.run_app(application, host="127.0.0.1", port=port, print=None)
elif name == "Bottle":
    import bottle
    application = bottle.Bottle()
    application.route("/<path:path>", "GET", lambda path: bottle.static_file(path, root="icons"))
    wsgi(application)
elif name == "Falcon":
    import os
    import falcon
    application = falcon.App()
    application.add_static_route("/", os.path.abspath("icons"))
    wsgi(application)
elif name == "Flask":
    import os
    import flask
    wsgi(flask.Flask("icons", static_folder=os.path.abspath("icons"), static_url_path="/"))
elif name == "ServeStatic":
    from servestatic import ServeStatic
    wsgi(ServeStatic(missing, root="icons", autorefresh=True))
elif name == "Starlette":
    import uvicorn
    from starlette.applications import Starlette
    from starlette.staticfiles import StaticFiles
    application = Starlette()
    application.mount("/", StaticFiles(directory="icons"))
    uvicorn.run(application, host="127.0.0.1", port=port, log_level="error")
elif name == "Tornado":
    import asyncio
    from tornado.web import Application, StaticFileHandler
    async def main():
        settings = {"static_hash_cache": False}  # otherwise its ETag never changes
        Application([("/(.*)", StaticFileHandler, {"path": "icons"})], **settings).listen(port, "127.0.0.1")
        await asyncio.Event().wait()
    asyncio.run(main())
elif name == "WhiteNoise":
    from whitenoise import WhiteNoise
    wsgi(WhiteNoise(missing, root="icons", autorefresh=True))
PYTHON
{
    [ "$(id -u)" != 0 ] || echo "user: root"
    echo "listen: {host: 127.0.0.1, port: PORT}"
    echo "hosts: {default: {paths: {/: {file.dir: $work/icons}}}}"
} > h2o.conf

cat > run.py <<'PYTHON'
import http.client, os, socket, subprocess, sys, time

def publish(content, date):
    with open("icons/new", "wb") as file:
        file.write(content)
    os.utime("icons/new", (date, date))
    os.replace("icons/new", "icons/icon.png")

def get(port, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", "/icon.png", headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    content = answer.read().decode()
    connection.close()
    return answer.status, content, answer.headers

def start(name):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    command, environment = ["python/bin/python", "-W", "ignore", "serve.py", name, str(port)], dict(os.environ)
    if name == "H2O":
        with open("h2o.conf") as file, open("h2o.now", "w") as now:
            now.write(file.read().replace("PORT", str(port)))
        command, environment["LD_LIBRARY_PATH"] = ["root/usr/bin/h2o", "-c", "h2o.now"], sys.argv[1]
    server = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return server, port
        except OSError:
            time.sleep(0.1)
    raise SystemExit(name + " did not start")

os.mkdir("icons")
for name in "Flask", "Starlette", "aiohttp", "Bottle", "Falcon", "H2O", "ServeStatic", "Tornado", "WhiteNoise":
    publish(b"aaaaaa", 1_600_000_000)
    server, port = start(name)
    try:
        _, half, headers = get(port, Range="bytes=0-2")
        tag, date = headers["ETag"], headers["Last-Modified"]
        same, rest, _ = get(port, Range="bytes=3-", If_Range=tag)
        before = half + rest if same == 206 else rest
        publish(b"bbbbbb", 1_700_000_000)
        results = []
        for condition in tag, date:
            status, rest, headers = get(port, Range="bytes=3-", If_Range=condition)
            results.append(f"{status} {half + rest if status == 206 else rest}")
        print(f"{name}: unchanged {same} {before}; replaced, with ETag {results[0]}, with date {results[1]};",
              "ETag", "same" if headers["ETag"] == tag else "differs" if headers["ETag"] else "missing")
    finally:
        server.kill()
        server.wait()
PYTHON
python3 run.py "$(echo "$work"/root/usr/lib/*-linux-gnu)" > got

cat > expected <<'TEXT'
Flask: unchanged 206 aaaaaa; replaced, with ETag 200 bbbbbb, with date 200 bbbbbb; ETag differs
Starlette: unchanged 206 aaaaaa; replaced, with ETag 200 bbbbbb, with date 200 bbbbbb; ETag differs
aiohttp: unchanged 206 aaaaaa; replaced, with ETag 206 aaabbb, with date 200 bbbbbb; ETag differs
Bottle: unchanged 206 aaaaaa; replaced, with ETag 206 aaabbb, with date 206 aaabbb; ETag differs
Falcon: unchanged 206 aaaaaa; replaced, with ETag 206 aaabbb, with date 206 aaabbb; ETag differs
H2O: unchanged 206 aaaaaa; replaced, with ETag 206 aaabbb, with date 206 aaabbb; ETag differs
ServeStatic: unchanged 206 aaaaaa; replaced, with ETag 206 aaabbb, with date 206 aaabbb; ETag differs
Tornado: unchanged 206 aaaaaa; replaced, with ETag 206 aaabbb, with date 206 aaabbb; ETag differs
WhiteNoise: unchanged 206 aaaaaa; replaced, with ETag 206 aaabbb, with date 206 aaabbb; ETag differs
TEXT
diff -u expected got || { echo "no longer as described" >&2; exit 1; }
cat got
echo "as described"
