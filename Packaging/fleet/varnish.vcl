# SPDX-License-Identifier: Apache-2.0
# Varnish: a cache for a site, in memory, between its agents and the server of the export.
#
# Install as /etc/varnish/default.vcl, then: systemctl restart varnish
#
# Change:
#   .host, .port   The server of the export. Varnish looks the name up when it starts, and fails if there is none.
#                  Restart it after the address has changed. It speaks no TLS.
#   Host           The name of that server, in two places: in the probe, and in vcl_recv.
#
# The port and the memory are options of the program: on Debian 6081 and 256 MB. “systemctl edit varnish” changes them.

vcl 4.1;

import std;

backend upstream {
    .host = "icons.example.com";
    .port = "80";
    .connect_timeout = 2s;
    .first_byte_timeout = 4s;
    .between_bytes_timeout = 4s;
    .probe = {
        .request = "GET /manifest.json HTTP/1.1" "Host: icons.example.com" "Connection: close";
        .interval = 10s;
        .timeout = 2s;
        .window = 3;
        .threshold = 2;
        .initial = 2;
    }
}

sub vcl_recv {
    if (req.method != "GET" && req.method != "HEAD") {
        return (synth(405));
    }
    if (req.url !~ "^/(manifest\.json|(icons|lists|signatures)/[^?]+)$") {
        return (synth(404));
    }
    set req.http.Host = "icons.example.com";
    unset req.http.Cookie;

    # An agent that received a wrong or missing file asks once more with "Cache-Control: no-cache". Varnish ignores that
    # unless it is told; the answer then replaces what was cached.
    if (req.http.Cache-Control ~ "(?i)no-cache") {
        set req.hash_always_miss = true;
    }

    # How old a manifest may be served: stale-while-revalidate while the upstream is healthy, else stale-if-error.
    if (std.healthy(req.backend_hint)) {
        set req.grace = 600s;
    }
    return (hash);
}

sub vcl_backend_response {
    if (beresp.status == 200 || beresp.status == 304) {
        set beresp.grace = 24h;
        # For conditional requests once that is over, too.
        set beresp.keep = 7d;
    } elsif (beresp.status == 404 || beresp.status == 403) {
        # What is missing now may be published in a moment. The default is two minutes.
        set beresp.ttl = 10s;
        if (bereq.url == "/manifest.json") {
            set beresp.ttl = 1s;
        }
        set beresp.grace = 0s;
    } elsif (bereq.is_bgfetch) {
        # An error does not replace what is there.
        return (abandon);
    } else {
        # Those who wait for this one get the same answer.
        set beresp.ttl = 1s;
        set beresp.grace = 0s;
        return (deliver);
    }
}
