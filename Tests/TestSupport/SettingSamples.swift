// SPDX-License-Identifier: Apache-2.0

package enum SettingSamples {
    /// Settings that have one value so far.
    package static let fixed: Set = ["render.format"]

    /// Another value than the default for every setting, but for those that have only one.
    package static let all: [String: String] = [
        "lists.settle": "1s", "lists.settleMax": "3s", "lists.rescan": "1m", "lists.rescanContent": "1h",
        "lists.maxBytes": "1MiB", "lists.maxEntries": "10", "lists.iconKeys": "logo,image",
        "lists.identityKeys": "uuid,key",
        "lists.iconBaseURL": "https://e.org/icons/", "cache.grace": "0s", "cache.leaseMax": "2h", "cache.mode": "0750",
        "cache.minFree": "1GiB", "eviction.holdAbove": "10% and 5 images", "eviction.holdFor": "7d",
        "fetch.concurrency": "8", "fetch.perHost": "2", "fetch.connectTimeout": "1s", "fetch.idleTimeout": "2s",
        "lists.maxBytesPerList": "2MiB", "cache.maxBytes": "3MiB",
        "fetch.totalTimeout": "3s", "fetch.maxBytes": "1MiB", "fetch.maxRate": "64KiB", "fetch.maxRedirects": "0",
        "fetch.retryBase": "2s", "fetch.retryMax": "1h",
        "fetch.userAgent": "agent/1 \"x\" \\", "fetch.proxy": "http://proxy.example.com:3128",
        "fetch.caFile": "/etc/ca.pem", "fetch.allowDowngrade": "true", "network.allow": "10.0.0.0/8,fd00::/8",
        "network.allowHosts": "icons.corp,.corp", "network.denyHosts": "*.example.com", "images.maxSide": "512",
        "images.maxPixels": "1000", "images.allowSVG": "true", "refresh.minimum": "2h", "refresh.default": "7d",
        "render.sizes": "48,64@2", "render.format": "png", "render.fit": "inside", "render.enlarge": "true",
        "desktop.icons": "true", "control.group": "daemon", "control.readers": "group",
        "dashboard.listen": "127.0.0.1:8080",
        "serve.listen": "[::]:80", "serve.lists": "true", "serve.origins": "https://kiosk.example,null",
        "serve.placeholder": "/usr/share/x.png", "metrics.textfile": "/var/lib/x.prom", "metrics.listen": "[::1]:9100",
        "upstream.urls": "https://icons.example.com/fleet/,http://10.0.0.5:8080/", "upstream.poll": "5m",
        "upstream.wait": "1m", "upstream.spread": "2m", "upstream.fallback": "never", "upstream.connectTimeout": "1s",
        "upstream.idleTimeout": "3s", "upstream.totalTimeout": "9s", "upstream.breakAfter": "5",
        "upstream.breakFor": "30s", "upstream.breakMax": "1h", "upstream.missTTL": "5s", "upstream.maxAge": "7d",
        "upstream.publicKeys": "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3",
        "upstream.lists": "a.plist,team-*.plist", "publish.heartbeat": "6h",
    ]
}
