#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The cache of libsoup 3.6.5 (Debian 13; 3.2.3 of Debian 12 does the same): SoupCache, for one user.
# Expected: after `Cache-Control: max-age=0`, with must-revalidate or without, each use of an icon asks the server
# whether it has changed. express.static, among others, sends that field with every file, together with Last-Modified.
# Seen: libsoup takes a lifetime of 0 for none at all, and guesses one: a tenth of the time since Last-Modified. An icon
# that was 300 days old is shown for 30 days without a request, whatever its server has since, and an icon of a minute
# for six seconds. The same goes for the Expires of the first second of 1970. Without Last-Modified, or with an Expires
# that is no date, the server is asked. After no-cache, and where there is no Cache-Control at all, nothing is kept.
# Besides, if the icon has changed, it is downloaded twice: the response to the conditional request is thrown away.
# Why it matters: icons are old files that change rarely, so that a launcher with libsoup shows the old one for weeks,
# and a test with a new file sees nothing. Send `no-cache` with icons, or a max-age of 1.
# Needs: root, mmdebstrap (it downloads 30 MB), python3.
set -euo pipefail

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
cd "$work"

# Each response is a new picture. /asked tells how they were asked for.
cat > server.py <<'PYTHON'
import email.utils, http.server, json, time, urllib.parse

asked = []

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path, _, query = self.path.partition("?")
        fields = dict(urllib.parse.parse_qsl(query))
        if path == "/asked":
            body = json.dumps(asked).encode()
            asked.clear()
        else:
            is_conditional = "If-None-Match" in self.headers or "If-Modified-Since" in self.headers
            asked.append("conditional" if is_conditional else "plain")
            body = str(time.monotonic_ns()).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        age = fields.pop("age", None)
        if age:
            self.send_header("Last-Modified", email.utils.formatdate(time.time() - float(age), usegmt=True))
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
import json, sys, time, urllib.parse, urllib.request
import gi
gi.require_version("Soup", "3.0")
from gi.repository import GLib, Soup

site = f"http://127.0.0.1:{sys.argv[1]}"
session, loop = Soup.Session(), GLib.MainLoop()
session.add_feature(Soup.Cache.new("/tmp/cache", Soup.CacheType.SINGLE_USER))
print(f"libsoup {Soup.get_major_version()}.{Soup.get_minor_version()}.{Soup.get_micro_version()}")

def get(address):
    bodies = []

    def finish(session, result):
        bodies.append(session.send_and_read_finish(result).get_data())
        GLib.timeout_add(200, loop.quit)  # until it is stored

    session.send_and_read_async(Soup.Message.new("GET", address), 0, None, finish)
    loop.run()
    return bodies[0]

def asked():
    return json.load(urllib.request.urlopen(site + "/asked"))

def look(what, pause=0, **fields):
    fields = {name.replace("_", "-"): value for name, value in fields.items()}
    address = f"{site}/{what.replace(' ', '-')}.png?{urllib.parse.urlencode(fields)}"
    first = get(address)
    asked()
    time.sleep(pause)
    is_old = get(address) == first
    print(f"{what}: {'old' if is_old else 'new'} icon, asked: {' '.join(asked()) or 'nothing'}")

days = 86400
look("max-age 0, 300 days, 3 s later", 3, Cache_Control="public, max-age=0", ETag='"v1"', age=300 * days)
look("must-revalidate, 300 days", Cache_Control="public, max-age=0, must-revalidate", ETag='"v1"', age=300 * days)
look("max-age 0, a minute", Cache_Control="max-age=0", ETag='"v1"', age=60)
look("max-age 0, a minute, 8 s later", 8, Cache_Control="max-age=0", ETag='"v1"', age=60)
look("max-age 0, no date", Cache_Control="max-age=0", ETag='"v1"')
look("max-age 1, 300 days, 3 s later", 3, Cache_Control="max-age=1", ETag='"v1"', age=300 * days)
look("expires 1970, 300 days", Expires="Thu, 01 Jan 1970 00:00:00 GMT", ETag='"v1"', age=300 * days)
look("expires -1, 300 days", Expires="-1", ETag='"v1"', age=300 * days)
look("no-cache, 300 days", Cache_Control="no-cache", ETag='"v1"', age=300 * days)
look("nothing, 300 days", ETag='"v1"', age=300 * days)
PYTHON

# Their files only: no package is set up. base-files has the links that programs need to start.
packages=base-files,coreutils,python3,python3-gi,gir1.2-soup-3.0
mmdebstrap --quiet --variant=extract --include=$packages trixie root "deb http://deb.debian.org/debian trixie main"
cp look.py root/tmp
chroot root env HOME=/tmp LC_ALL=C.UTF-8 GIO_MODULE_DIR=/none /usr/bin/python3 /tmp/look.py "$(cat port)" > got

cat > expected <<'TEXT'
libsoup 3.6.5
max-age 0, 300 days, 3 s later: old icon, asked: nothing
must-revalidate, 300 days: old icon, asked: nothing
max-age 0, a minute: old icon, asked: nothing
max-age 0, a minute, 8 s later: new icon, asked: conditional plain
max-age 0, no date: new icon, asked: conditional plain
max-age 1, 300 days, 3 s later: new icon, asked: conditional plain
expires 1970, 300 days: old icon, asked: nothing
expires -1, 300 days: new icon, asked: conditional plain
no-cache, 300 days: new icon, asked: plain
nothing, 300 days: new icon, asked: plain
TEXT
diff -u expected got || { echo "no longer as described" >&2; exit 1; }
cat got
echo "as described"
