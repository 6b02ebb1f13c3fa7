// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import Fleet
package import HTTPRules

/// All settings, with their defaults.
///
/// ``SettingKey`` has the name and the form of each setting.
package struct Settings: Equatable, Sendable {
    package struct Lists: Equatable, Sendable {
        /// The quiet time after which a change in the lists folder is handled (default 100 ms).
        package var settle: Duration = .milliseconds(100)
        /// The longest wait for the quiet time (default 2 s).
        package var settleMax: Duration = .seconds(2)
        /// How often the folder is listed even if no change was reported (default 30 s).
        package var rescan: Duration = .seconds(30)
        /// How often the contents of lists are compared even if nothing else about the files has changed (default 10
        /// minutes).
        package var rescanContent: Duration = .seconds(600)
        /// The largest accepted property list (default 8 MiB).
        package var maxBytes: ByteCount = .mebibytes(8)
        /// The most entries accepted in one list (default 50,000).
        package var maxEntries: Int = 50_000
        /// The most bytes of one list's images; beyond that, icons without an image wait (default no limit).
        package var maxBytesPerList: ByteCount?
        /// The keys that may hold an entry's icon URL, in order of preference.
        package var iconKeys: [String] = ["icon", "icon_url", "iconURL", "iconUrl", "artwork"]
        /// The keys that may hold an app's identity, in order of preference.
        package var identityKeys: [String] = ["id", "identifier", "bundleIdentifier", "bundle_id", "appid"]
        /// The base URL of icons with a relative name (default none: such icons are ignored).
        package var iconBaseURL: String?
    }

    package struct Cache: Equatable, Sendable {
        /// The grace period: how long files stay after their manifest was superseded (default 10 minutes).
        package var grace: Duration = .seconds(600)
        /// How long a lease retains a generation after it was superseded (default 24 h).
        package var leaseMax: Duration = .seconds(86_400)
        /// Who may read the cache, including the URLs as the lists spell them (default everybody).
        package var mode: CacheMode = .everybody
        /// The part of the cache's file system that stays free.
        ///
        /// A download starts only if it leaves that much (default 5 % of the bytes, and of the inodes).
        package var minFree: SpaceReserve = .percent(5)
        /// The most bytes of all images; beyond that, icons without an image wait (default no limit).
        package var maxBytes: ByteCount?
    }

    package struct Eviction: Equatable, Sendable {
        /// The part of the images that one change may retire before its eviction is held for confirmation (default half
        /// of all images; 20 images may always go).
        package var holdAbove = HoldThreshold(percent: 50, images: 20)
        /// How long a held eviction waits for confirmation before it counts as confirmed (default 24 h).
        package var holdFor: Duration = .seconds(86_400)
    }

    package struct Fetch: Equatable, Sendable {
        /// The most downloads at once (default 32).
        package var concurrency: Int = 32
        /// The most downloads at once from one host (default 4; 100 if the host speaks HTTP/2).
        package var perHost: Int = 4
        /// Timeout for connecting, TLS included (default 5 s).
        package var connectTimeout: Duration = .seconds(5)
        /// Timeout for a silent server (default 10 s).
        package var idleTimeout: Duration = .seconds(10)
        /// Timeout for one download with all its redirects, the body included (default 60 s).
        package var totalTimeout: Duration = .seconds(60)
        /// The largest accepted image (default 5 MiB).
        package var maxBytes: ByteCount = .mebibytes(5)
        /// The most bytes that all downloads together receive a second (default no limit).
        package var maxRate: ByteCount?
        /// The most redirects followed for one icon (default 10).
        package var maxRedirects: Int = 10
        /// The base of the exponential backoff between attempts (default 1 s).
        package var retryBase: Duration = .seconds(1)
        /// The longest delay between attempts after transient failures (default 10 minutes).
        package var retryMax: Duration = .seconds(600)
        /// The `User-Agent` sent to servers (default `syncagent/VERSION`).
        package var userAgent: String = "syncagent/\(Version.current)"
        /// The proxy for all requests, except for the hosts in `NO_PROXY` (default taken from `http_proxy`,
        /// `HTTPS_PROXY` and `ALL_PROXY`).
        package var proxy: String?
        /// A PEM file with the trusted certificates, used instead of the system's (default taken from `SSL_CERT_FILE`).
        package var caFile: String?
        /// The digest of the contents of ``caFile`` when it was read: another one is a changed setting.
        package var caDigest: Digest?
        /// Whether a redirect may lead from https to http (default `false`).
        package var allowDowngrade: Bool = false
    }

    package typealias Network = NetworkRules

    package struct Images: Equatable, Sendable {
        /// The largest accepted width and height, in pixels (default 4096).
        package var maxSide: Int = 4096
        /// The most pixels accepted (default 2^24, 16 Mpx).
        package var maxPixels: Int = 1 << 24
        /// Whether SVG images are accepted (default no).
        package var allowSVG: Bool = false
    }

    package struct Render: Equatable, Sendable {
        /// The sizes that each image is rendered in (default none).
        package var sizes: [RenditionSize] = []
        /// The format of the renditions (PNG).
        package var format = "png"
        /// How a picture fills its size (default `contain`).
        package var fit: Fit = .contain
        /// Whether pictures smaller than a size are enlarged to it (default no).
        package var enlarge: Bool = false

        package enum Fit: String, CaseIterable, Sendable {
            /// A square: the picture is in its middle, and the margins are transparent.
            case contain
            /// A rectangle of the picture's proportions, whose longer side is the size.
            case inside
        }
    }

    package struct Desktop: Equatable, Sendable {
        /// Whether the renditions of apps have names in an icon theme (default no).
        package var icons: Bool = false
    }

    package struct Refresh: Equatable, Sendable {
        /// The shortest time between two requests for an image, whatever freshness its server gives (default 1 h).
        package var minimum: Duration = .seconds(3600)
        /// The freshness lifetime when the server gives neither a lifetime nor a validator, ±20 % (default 24 h).
        package var `default`: Duration = .seconds(86_400)
    }

    package struct Control: Equatable, Sendable {
        /// The group whose members may control the agent, as its user and root may (default none).
        package var group: String?
        /// Who may query the agent (default everyone on the machine).
        package var readers: Readers = .everyone

        package enum Readers: String, CaseIterable, Sendable {
            case everyone
            /// The agent's user, root, and the members of ``Control/group``.
            case group
        }
    }

    package struct Dashboard: Equatable, Sendable {
        /// The loopback address of the dashboard (default none: the dashboard is off).
        package var listen: ListenAddress?
    }

    package struct Serve: Equatable, Sendable {
        /// The address where images are served by URL or digest, to any client (default none).
        package var listen: ListenAddress?
        /// Whether the documents of lists are also served at this address.
        package var lists = false
        /// The origins of web pages whose scripts may read lists; `*` is any (default none).
        package var origins: [String] = []
        /// The absolute path of an image that is served for a missing one if the request asks for a placeholder
        /// (default none).
        package var placeholder: String?
    }

    package struct Metrics: Equatable, Sendable {
        /// The file that metrics are written to, for node_exporter; an absolute path that ends in `.prom` (default
        /// none).
        package var textfile: String?
        /// The loopback address where Prometheus scrapes metrics (default none).
        package var listen: ListenAddress?
    }

    package typealias Upstream = UpstreamSettings

    package struct Publish: Equatable, Sendable {
        /// The longest time between publications, even if nothing has changed (default 12 h).
        package var heartbeat: Duration = .seconds(12 * 3600)

        package init() {}
    }

    @Shared package var lists = Lists()
    @Shared package var cache = Cache()
    @Shared package var eviction = Eviction()
    @Shared package var fetch = Fetch()
    @Shared package var network = Network()
    @Shared package var images = Images()
    @Shared package var render = Render()
    @Shared package var desktop = Desktop()
    @Shared package var refresh = Refresh()
    @Shared package var control = Control()
    @Shared package var dashboard = Dashboard()
    @Shared package var serve = Serve()
    @Shared package var metrics = Metrics()
    @Shared package var upstream = Upstream()
    @Shared package var publish = Publish()
    /// The query parameters that do not distinguish images, by host (default none).
    @Shared package var keys = CacheKeys()
    /// The credentials for private origins (default none); they come from a file of their own, and no report shows
    /// them.
    @Shared package var credentials = Credentials()

    package init() {}
}
