// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules

extension SettingKey {
    /// All settings, in the order of the documentation.
    package static let all: [SettingKey] =
        lists + cache + fetch + network + images + render + upstream + [heartbeat] + control

    private static let lists: [SettingKey] = [
        .duration(
            "lists.settle", \.lists.settle, "How long the lists folder must be quiet before a change counts."),
        .duration("lists.settleMax", \.lists.settleMax, "The longest that a change waits for quiet."),
        .duration(
            "lists.rescan", \.lists.rescan, atLeast: .milliseconds(100),
            "How often the folder is listed even though no change was reported."),
        .duration(
            "lists.rescanContent", \.lists.rescanContent, atLeast: .milliseconds(100),
            "How often the contents of lists are compared even though nothing else about their files changed."),
        .bytes("lists.maxBytes", \.lists.maxBytes, upTo: .mebibytes(64), "The largest list file accepted."),
        .count("lists.maxEntries", \.lists.maxEntries, 1...1_000_000, "The most entries accepted in one list."),
        .optionalBytes(
            "lists.maxBytesPerList", \.lists.maxBytesPerList, atLeast: ByteCount(1024), upTo: .mebibytes(1 << 20),
            """
            The most bytes of images of one list. What is there stays; icons without an image wait until there is room \
            (`over-limit`).
            """),
        .list(
            "lists.iconKeys", "keys", "keys", \.lists.iconKeys,
            "The keys that hold an entry's icon URL, tried in this order; `icon` always comes first.",
            // Commas separate the keys in variables.
            { $0.isEmpty || $0.contains(",") || $0.starts(withBytes: " ") ? nil : $0 }, { $0 }),
        .list(
            "lists.identityKeys", "keys", "keys", \.lists.identityKeys,
            """
            The keys that identify an app, tried in this order: an app whose icon gets another URL keeps its image \
            until the new one is downloaded.
            """,
            { $0.isEmpty || $0.contains(",") || $0.starts(withBytes: " ") ? nil : $0 }, { $0 }),
        .optional(
            "lists.iconBaseURL", "an http or https URL such as https://example.com/icons/", "http or https URL",
            \.lists.iconBaseURL, "The folder that relative icon names refer to."
        ) { IconBase($0) != nil },
    ]

    private static let cache: [SettingKey] = [
        .duration(
            "cache.grace", \.cache.grace,
            "How long files stay after the last manifest that names them was superseded."),
        .duration(
            "cache.leaseMax", \.cache.leaseMax,
            """
            The longest that a lease (a reader's lock) keeps a generation (a published state of the cache) after it was \
            superseded.
            """),
        .value(
            "cache.mode", "0755 or 0750", "`0755` or `0750`", \.cache.mode, effect: .restart,
            "Who may read the cache, including the URLs in it: everybody, or only the folder's group.",
            CacheMode.init(rawValue:), \.rawValue),
        .value(
            "cache.minFree", "a share of the file system up to 90%, or a size (B, KiB, MiB, GiB)",
            "percentage up to 90%, or size", \.cache.minFree,
            """
            What stays free on the cache's file system: a share of its bytes and of its inodes, or a size. At least 64 KiB \
            and 16 inodes.
            """, { SpaceReserve($0) }, { $0.description.replacing(" ", with: "") }),
        .optionalBytes(
            "cache.maxBytes", \.cache.maxBytes, atLeast: ByteCount(1024), upTo: .mebibytes(1 << 20),
            """
            The most bytes of images in the cache. What is there stays, and is refreshed; icons without an image wait until \
            there is room (`over-limit`).
            """),
        .value(
            "eviction.holdAbove", "a share of all images, as 50% or 50% and 20 images",
            "percentage, or `50% and 20 images`", \.eviction.holdAbove,
            "A change that retires more than both of these is held; so are several, if what they retired is still on disk "
                + "and nothing came instead.",
            { HoldThreshold($0) }, \.description),
        .duration(
            "eviction.holdFor", \.eviction.holdFor,
            "How long it is held, unless `syncagent evict --confirm` confirms it: its images are then removed."),
    ]

    private static let fetch: [SettingKey] = [
        .count("fetch.concurrency", \.fetch.concurrency, 1...1000, "The most downloads at once."),
        .count(
            "fetch.perHost", \.fetch.perHost, 1...1000,
            "The most downloads at once from one host. A host that speaks HTTP/2 may have 100."),
        .duration(
            "fetch.connectTimeout", \.fetch.connectTimeout, atLeast: .milliseconds(1),
            "How long connecting may take, TLS included."),
        .duration(
            "fetch.idleTimeout", \.fetch.idleTimeout, atLeast: .milliseconds(1), "How long a server may be silent."),
        .duration(
            "fetch.totalTimeout", \.fetch.totalTimeout, atLeast: .milliseconds(1),
            "How long a download may take in total, with its redirects and its body."),
        .bytes("fetch.maxBytes", \.fetch.maxBytes, "The largest image accepted."),
        .optionalBytes(
            "fetch.maxRate", \.fetch.maxRate, atLeast: ByteCount(1024),
            "The most bytes of bodies that all downloads together receive a second. They share it in turns."),
        .count("fetch.maxRedirects", \.fetch.maxRedirects, 0...100, "The most redirects followed for one icon."),
        .duration(
            "fetch.retryBase", \.fetch.retryBase, atLeast: .milliseconds(1),
            """
            The limit of the first delay after a transient failure. It doubles with each attempt (exponential backoff with \
            full jitter).
            """),
        .duration(
            "fetch.retryMax", \.fetch.retryMax, atLeast: .milliseconds(1), "The highest limit of that delay."),
        .value(
            "fetch.userAgent", "printable ASCII, at most 256 characters", "printable ASCII, up to 256 characters",
            \.fetch.userAgent, "The User-Agent header field of requests.",
            { text in
                let isValid = (1...256).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
                return isValid ? text : nil
            }, \.self),
        proxy,
        .optional(
            "fetch.caFile", "an absolute path", "absolute path", \.fetch.caFile, absence: environment,
            "A PEM file with the certificate authorities to trust."
        ) { $0.starts(withBytes: "/") },
        .flag("fetch.allowDowngrade", \.fetch.allowDowngrade, "Whether redirects may lead from https to http."),
    ]

    private static let environment = "from the environment"

    private static let proxy: SettingKey = {
        var key = SettingKey.optional(
            "fetch.proxy", "a proxy with its port, such as http://proxy.example.com:3128",
            "http or socks5 proxy, with its scheme or port", \.fetch.proxy, absence: environment,
            "The proxy for all requests."
        ) { Proxy($0) != nil && Proxy.isExplicit($0) }
        key.redact = Proxy.withoutPassword
        return key
    }()

    private static let hosts = "hosts in ASCII such as icons.example.com, .example.com, *.example.com or 10.1.2.3"

    private static let network: [SettingKey] = [
        .list(
            "network.allow", "networks such as 10.0.0.0/8 or fd00::/8", "networks", \.network.allow,
            "Networks that may be contacted although their addresses are not public.", { AddressRange($0) },
            { $0.description }),
        .list(
            "network.allowHosts", hosts, "hosts", \.network.allowHosts,
            "Hosts that may be contacted although their addresses are private, shared or loopback.",
            { HostPattern($0) }, { $0.description }),
        .list(
            "network.denyHosts", hosts, "hosts", \.network.denyHosts,
            "Hosts that are never contacted, even if network.allow or network.allowHosts permits them.",
            { HostPattern($0) }, { $0.description }),
    ]

    private static let images: [SettingKey] = [
        .count(
            "images.maxSide", \.images.maxSide, 1...65_535, "The largest width and height accepted, in pixels."),
        .count("images.maxPixels", \.images.maxPixels, 1...1 << 32, "The most pixels accepted."),
        .flag(
            "images.allowSVG", \.images.allowSVG,
            "Whether SVG is accepted. Scripts and external references are refused in any case."),
        .duration(
            "refresh.minimum", \.refresh.minimum, atLeast: .seconds(1),
            "The minimum time between two requests for the same image, even if the server gives a shorter one."),
        .duration(
            "refresh.default", \.refresh.default, atLeast: .seconds(1),
            "The freshness lifetime when the server gives neither a lifetime nor a validator (±20 %)."),
    ]

    private static let render: [SettingKey] = [
        .list(
            "render.sizes", "up to 16 sizes such as 64 or 64@2, of 8 to 1024, and at most 2048 pixels", "sizes",
            \.render.sizes, atMost: 16,
            """
            The sizes that each image is rendered in, in pixels; with `@2` to `@4`, in units of that many pixels. Needs \
            `syncagent-render`.
            """,
            { text in RenditionSize(text).flatMap { $0.pixels <= 2048 ? $0 : nil } }, { $0.description }),
        .value(
            "render.format", "png", "`png`", \.render.format, "The format of renditions.",
            { $0 == "png" ? $0 : nil }, \.self),
        .value(
            "render.fit", "contain or inside", "`contain` or `inside`", \.render.fit,
            """
            Whether renditions are squares, with the picture in the middle of a transparent background (`contain`), or have \
            the proportions of the picture (`inside`).
            """, { Settings.Render.Fit(rawValue: $0) }, \.rawValue),
        .flag(
            "render.enlarge", \.render.enlarge, "Whether pictures that are smaller than a size are enlarged to it."),
        .flag(
            "desktop.icons", \.desktop.icons,
            "Whether renditions have the names of their apps in an icon theme, in `share/icons/hicolor` of the cache."),
    ]

    private static let heartbeat = SettingKey.duration(
        "publish.heartbeat", \.publish.heartbeat, atLeast: .seconds(1),
        """
        How long after a publication the next one follows although nothing changed, so that other machines can tell \
        idle from dead.
        """)

    /// Whether a text is an origin as browsers send it (RFC 6454): a scheme, a host, and a port unless it is the
    /// scheme's own.
    private static func isOrigin(_ text: String) -> Bool {
        if text == "*" || text == "null" { return true }
        guard let scheme = ["https://", "http://"].first(where: text.starts(withBytes:)) else { return false }
        let host = text.utf8.dropFirst(scheme.utf8.count)
        return !host.isEmpty && host.allSatisfy("abcdefghijklmnopqrstuvwxyz0123456789.:-[]".utf8.contains)
    }

    private static let control: [SettingKey] = [
        .optional(
            "control.group", "the name of a group", "group", \.control.group, effect: .restart,
            "The group whose members may change things through the control socket, like the owner and root."
        ) { text in text.utf8.count <= 32 && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x3A && $0 < 0x7F } },
        .value(
            "control.readers", "everyone or group", "`everyone` or `group`", \.control.readers, effect: .restart,
            """
            Who may read through the control socket: everybody on the machine, or only the owner, root and `control.group`.
            """, { Settings.Control.Readers(rawValue: $0) }, \.rawValue),
        .listen(
            "dashboard.listen", \.dashboard.listen, onlyLoopback: true, "Where the dashboard's page is served."),
        .listen(
            "serve.listen", \.serve.listen, onlyLoopback: false,
            "Where images are served over HTTP, by URL or by digest."),
        .flag(
            "serve.lists", \.serve.lists, effect: .restart,
            "Whether the names, URLs and states of all lists are served there too, to everybody."),
        .list(
            "serve.origins", "origins such as https://kiosk.example, null (pages opened from disk), or *", "origins",
            \.serve.origins, effect: .restart,
            """
            The origins of web pages whose scripts may read the lists; `*` is any page. A page that was opened from disk has \
            the origin `null`, but any site can have that, too, by a frame.
            """,
            { isOrigin($0) ? $0 : nil }, \.self),
        .optional(
            "serve.placeholder", "the absolute path of an image", "absolute path", \.serve.placeholder,
            effect: .restart,
            "The image that is sent in place of a missing one if a request has `placeholder=`."
        ) { $0.starts(withBytes: "/") },
        .optional(
            "metrics.textfile", "an absolute path that ends in .prom", "absolute path that ends in `.prom`",
            \.metrics.textfile, effect: .restart, "The file that metrics are written to, for node_exporter."
        ) { $0.starts(withBytes: "/") && $0.ends(withBytes: ".prom") },
        .listen("metrics.listen", \.metrics.listen, onlyLoopback: true, "Where Prometheus scrapes metrics."),
    ]
}
