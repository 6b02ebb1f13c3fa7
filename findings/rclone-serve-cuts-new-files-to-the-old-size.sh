#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# rclone 1.60.1 (Debian 12: rclone 1.60.1+dfsg-2+b5), `rclone serve http` on a local folder.
# Expected: a file that is replaced while the server runs is served as it was, for up to the five
# minutes of --dir-cache-time, or as it is.
# Seen: neither. The size and the date are those of the old file, and the bytes those of the new
# one: a longer file is cut to the old size, with status 200, a Content-Length that is kept, and
# the old Last-Modified, and a request with that date gets 304. A program that has the old file
# never asks again, and one that has none gets a damaged file that nothing in the response betrays.
# Of a shorter file the connection ends before the Content-Length. `rclone serve webdav` has an
# ETag of time and size, which is the old one as long.
# Why it matters: a folder of icons behind `rclone serve` breaks pictures after each change, and
# mends itself minutes later; whoever looks then finds nothing. `--dir-cache-time 1s` shortens that.
# Needs: the lists of `apt-get update`; python3 and curl.
set -euo pipefail

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
cd "$work"

apt-get -qq -o APT::Sandbox::User=root download rclone=1.60.1+dfsg-2+b5
dpkg-deb -x rclone_*.deb root

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir site

# put NAME TEXT DATE: a file that appears at once, with a date in the past.
put() {
    printf %s "$2" > "site/.$1.new"
    touch -d "$3" "site/.$1.new"
    mv "site/.$1.new" "site/$1"
}

put longer "old" 2026-01-01T00:00:00Z
put shorter "the old text" 2026-01-01T00:00:00Z

env HOME="$work" root/usr/bin/rclone -q --config "$work/none" serve http site --addr "127.0.0.1:$port" 2> log &
server=$!
for _ in $(seq 100); do curl -sf "http://127.0.0.1:$port/longer" > /dev/null && break || sleep 0.1; done
curl -sf "http://127.0.0.1:$port/shorter" > /dev/null

put longer "a new text" 2026-02-02T00:00:00Z
put shorter "new" 2026-02-02T00:00:00Z

# show WHAT CURL-OPTION...: the end of curl, the status, the fields that count, and the body.
show() {
    local what=$1 code=0
    shift
    curl -s -o body -D head "$@" || code=$?
    echo "$what: curl $code," "$(tr -d '\r' < head | sed -n '1s/HTTP.1.1 //p')"
    tr -d '\r' < head | grep -i -E '^(content-length|last-modified):' | sort || true
    [ ! -s body ] || echo "body: $(cat body)"
    rm -f body head
}
{
    show "longer" "http://127.0.0.1:$port/longer"
    show "longer, asked with the date" -H "If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT" \
        "http://127.0.0.1:$port/longer"
    show "shorter" "http://127.0.0.1:$port/shorter"
} > got

cat > expected <<'TEXT'
longer: curl 0, 200 OK
Content-Length: 3
Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT
body: a n
longer, asked with the date: curl 0, 304 Not Modified
Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT
shorter: curl 18, 200 OK
Content-Length: 12
Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT
body: new
TEXT
diff -u expected got || { echo "no longer as described" >&2; exit 1; }
cat got
echo "as described"
