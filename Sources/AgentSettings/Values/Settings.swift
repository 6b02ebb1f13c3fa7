// SPDX-License-Identifier: Apache-2.0
import AppLists
package import CacheFormat
package import Fleet
package import HTTPRules

/// Everything that can be set, with its default.
///
/// `SettingKey` has each one's name and how it is written.
package struct Settings: Equatable, Sendable {
    package struct Lists: Equatable, Sendable {
        /// The quiet time after which a change in the lists folder counts.
        ///
        /// The default is 100 ms.
        package var settle: Duration = .milliseconds(100)
        /// The longest that a change waits for quiet.
        ///
        /// The default is 2 s.
        package var settleMax: Duration = .seconds(2)
        /// How often the folder's listing is compared although nothing was reported.
        ///
        /// The default is 30 s.
        package var rescan: Duration = .seconds(30)
        /// How often the contents of lists are compared although nothing else of their files has changed.
        ///
        /// The default is 10 minutes.
        package var rescanContent: Duration = .seconds(600)
        /// The largest property list accepted.
        ///
        /// The default is 8 MiB.
        package var maxBytes: ByteCount = .mebibytes(8)
        /// The most entries accepted in one list.
        ///
        /// The default is 50,000.
        package var maxEntries: Int = 50_000
        /// The keys under which an entry's icon URL is looked for, in this order.
        package var iconKeys: [String] = ["icon", "icon_url", "iconURL", "iconUrl", "artwork"]
        /// The keys whose value tells an app from others, in this order.
        package var identityKeys: [String] = ["id", "identifier", "bundleIdentifier", "bundle_id", "appid"]
        /// The URL of the folder in which icons with a relative name are.
        ///
        /// None by default: then such icons are passed over.
        package var iconBaseURL: String?
    }

    package struct Cache: Equatable, Sendable {
        /// How long what a manifest named stays after that manifest was superseded.
        ///
        /// The default is 10 minutes.
        package var grace: Duration = .seconds(600)
        /// How long a lease keeps a generation after it was superseded.
        ///
        /// The default is 24 h.
        package var leaseMax: Duration = .seconds(86_400)
        /// Who may read the cache, and with it the URLs as the lists spell them.
        ///
        /// The default is everybody.
        package var mode: CacheMode = .everybody
        /// How much of the cache's file system is left free: a download starts only where its size fits beside it.
        ///
        /// The default is 5 % of the bytes, and of the inodes.
        package var minFree: SpaceReserve = .percent(5)
    }

    package struct Eviction: Equatable, Sendable {
        /// What one change may retire before its eviction waits for somebody to confirm it.
        ///
        /// The default is half of all images, and any 20.
        package var holdAbove = HoldThreshold(percent: 50, images: 20)
        /// How old such a change is when it counts as confirmed.
        ///
        /// The default is 24 h.
        package var holdFor: Duration = .seconds(86_400)
    }

    package struct Fetch: Equatable, Sendable {
        /// The most downloads at once.
        ///
        /// The default is 32.
        package var concurrency: Int = 32
        /// The most downloads at once from one host, if it does not speak HTTP/2: then 100.
        ///
        /// The default is 4.
        package var perHost: Int = 4
        /// How long connecting may take, TLS included.
        ///
        /// The default is 5 s.
        package var connectTimeout: Duration = .seconds(5)
        /// How long a server may be silent.
        ///
        /// The default is 10 s.
        package var idleTimeout: Duration = .seconds(10)
        /// How long one download may take with all its redirects, the body included.
        ///
        /// The default is 60 s.
        package var totalTimeout: Duration = .seconds(60)
        /// The largest image accepted.
        ///
        /// The default is 5 MiB.
        package var maxBytes: ByteCount = .mebibytes(5)
        /// The most redirects followed for one icon.
        ///
        /// The default is 10.
        package var maxRedirects: Int = 10
        /// The first step of the delays between attempts.
        ///
        /// The default is 1 s.
        package var retryBase: Duration = .seconds(1)
        /// The longest delay between attempts after errors that pass by themselves.
        ///
        /// The default is 10 minutes.
        package var retryMax: Duration = .seconds(600)
        /// What the agent calls itself to servers.
        ///
        /// The default is `syncagent/VERSION`.
        package var userAgent: String = "syncagent/\(Version.current)"
        /// The proxy for all requests but the exceptions in `NO_PROXY`.
        ///
        /// The default is what `http_proxy`, `HTTPS_PROXY` and `ALL_PROXY` say.
        package var proxy: String?
        /// A PEM file with the certificates that servers' are checked against, in place of the system's.
        ///
        /// The default is what `SSL_CERT_FILE` says.
        package var caFile: String?
        /// Whether a redirect may lead from https to http.
        ///
        /// The default is `false`.
        package var allowDowngrade: Bool = false
    }

    package typealias Network = NetworkRules

    package struct Images: Equatable, Sendable {
        /// The largest width and height accepted, in pixels.
        ///
        /// The default is 4096.
        package var maxSide: Int = 4096
        /// The most pixels accepted.
        ///
        /// The default is 16 Mpx (2^24).
        package var maxPixels: Int = 1 << 24
        /// Whether SVG drawings are accepted.
        ///
        /// The default is no.
        package var allowSVG: Bool = false
    }

    package struct Refresh: Equatable, Sendable {
        /// How soon a copy may be asked for again, whatever its server says of its freshness.
        ///
        /// The default is 1 h.
        package var minimum: Duration = .seconds(3600)
        /// How long a copy of which its server says nothing is fresh, give or take a fifth.
        ///
        /// The default is 24 h.
        package var `default`: Duration = .seconds(86_400)
    }

    package struct Control: Equatable, Sendable {
        /// The group whose members may change things, as the owner and root may.
        ///
        /// None by default.
        package var group: String?
        /// Who may ask the agent for what it knows.
        ///
        /// The default is everyone on the machine.
        package var readers: Readers = .everyone

        package enum Readers: String, CaseIterable, Sendable {
            case everyone
            /// The owner, root, and the members of ``Control/group``.
            case group
        }
    }

    package struct Dashboard: Equatable, Sendable {
        /// The loopback address of the dashboard's page.
        ///
        /// None by default: there is no page.
        package var listen: ListenAddress?
    }

    package struct Serve: Equatable, Sendable {
        /// The address where images are served by URL or digest, to anybody.
        ///
        /// None by default.
        package var listen: ListenAddress?
    }

    package struct Metrics: Equatable, Sendable {
        /// The file that metrics are written to, for node_exporter; an absolute path that ends in `.prom`.
        ///
        /// None by default.
        package var textfile: String?
        /// The loopback address where Prometheus asks for metrics.
        ///
        /// None by default.
        package var listen: ListenAddress?
    }

    @Shared package var lists = Lists()
    @Shared package var cache = Cache()
    @Shared package var eviction = Eviction()
    @Shared package var fetch = Fetch()
    @Shared package var network = Network()
    @Shared package var images = Images()
    @Shared package var refresh = Refresh()
    @Shared package var control = Control()
    @Shared package var dashboard = Dashboard()
    @Shared package var serve = Serve()
    @Shared package var metrics = Metrics()
    @Shared package var upstream = Upstream()
    @Shared package var publish = Publish()

    package init() {}
}
