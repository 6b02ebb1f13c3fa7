// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import HTTPRules
import Testing

@Suite("Settings by name")
struct SettingKeyTests {
    private static func key(_ name: String) throws -> SettingKey {
        try #require(SettingKey.all.first { $0.name == name }, "there is no setting \(name)")
    }

    /// All settings with their defaults, written out: neither changes within a major version.
    private static let defaults: [(String, String)] = [
        ("lists.settle", "100ms"), ("lists.settleMax", "2s"), ("lists.rescan", "30s"),
        ("lists.rescanContent", "10m"), ("lists.maxBytes", "8MiB"), ("lists.maxEntries", "50000"),
        ("lists.maxBytesPerList", ""), ("lists.iconKeys", "icon,icon_url,iconURL,iconUrl,artwork"),
        ("lists.identityKeys", "id,identifier,bundleIdentifier,bundle_id,appid"), ("lists.iconBaseURL", ""),
        ("cache.grace", "10m"), ("cache.leaseMax", "1d"), ("cache.mode", "0755"), ("cache.minFree", "5%"),
        ("cache.maxBytes", ""), ("eviction.holdAbove", "50% and 20 images"), ("eviction.holdFor", "1d"),
        ("fetch.concurrency", "32"), ("fetch.perHost", "4"), ("fetch.connectTimeout", "5s"),
        ("fetch.idleTimeout", "10s"), ("fetch.totalTimeout", "1m"), ("fetch.maxBytes", "5MiB"),
        ("fetch.maxRate", ""), ("fetch.maxRedirects", "10"), ("fetch.retryBase", "1s"), ("fetch.retryMax", "10m"),
        ("fetch.userAgent", "syncagent/\(Version.current)"), ("fetch.proxy", ""), ("fetch.caFile", ""),
        ("fetch.allowDowngrade", "false"), ("network.allow", ""), ("network.allowHosts", ""),
        ("network.denyHosts", ""), ("images.maxSide", "4096"), ("images.maxPixels", "16777216"),
        ("images.allowSVG", "false"), ("refresh.minimum", "1h"), ("refresh.default", "1d"), ("render.sizes", ""),
        ("render.format", "png"), ("render.fit", "contain"), ("render.enlarge", "false"), ("desktop.icons", "false"),
        ("upstream.urls", ""), ("upstream.poll", "15m"), ("upstream.wait", "15m"), ("upstream.spread", "15m"),
        ("upstream.fallback", "origin"), ("upstream.connectTimeout", "2s"), ("upstream.idleTimeout", "5s"),
        ("upstream.totalTimeout", "20s"), ("upstream.breakAfter", "3"), ("upstream.breakFor", "1m"),
        ("upstream.breakMax", "15m"), ("upstream.missTTL", "1m"), ("upstream.maxAge", "3d"),
        ("upstream.publicKeys", ""), ("upstream.lists", ""), ("publish.heartbeat", "12h"), ("control.group", ""),
        ("control.readers", "everyone"), ("dashboard.listen", ""), ("serve.listen", ""), ("serve.lists", "false"),
        ("serve.origins", ""), ("serve.placeholder", ""), ("metrics.textfile", ""),
        ("metrics.listen", ""),
    ]

    @Test("settings have the defaults of the contract", arguments: defaults)
    func preset(name: String, value: String) throws {
        #expect(try Self.key(name).value(in: Settings()) == value)
    }

    @Test("no other setting exists")
    func all() {
        #expect(Set(SettingKey.all.map(\.name)) == Set(Self.defaults.map(\.0)))
    }

    @Test(
        "a setting has its environment variable",
        arguments: [
            ("fetch.maxBytes", "SYNCAGENT_FETCH_MAX_BYTES"), ("lists.settle", "SYNCAGENT_LISTS_SETTLE"),
            ("lists.settleMax", "SYNCAGENT_LISTS_SETTLE_MAX"), ("lists.iconKeys", "SYNCAGENT_LISTS_ICON_KEYS"),
            ("lists.iconBaseURL", "SYNCAGENT_LISTS_ICON_BASE_URL"), ("cache.grace", "SYNCAGENT_CACHE_GRACE"),
            ("cache.minFree", "SYNCAGENT_CACHE_MIN_FREE"),
            ("fetch.perHost", "SYNCAGENT_FETCH_PER_HOST"),
            ("fetch.allowDowngrade", "SYNCAGENT_FETCH_ALLOW_DOWNGRADE"), ("network.allow", "SYNCAGENT_NETWORK_ALLOW"),
            ("network.allowHosts", "SYNCAGENT_NETWORK_ALLOW_HOSTS"),
            ("network.denyHosts", "SYNCAGENT_NETWORK_DENY_HOSTS"),
            ("refresh.default", "SYNCAGENT_REFRESH_DEFAULT"), ("images.allowSVG", "SYNCAGENT_IMAGES_ALLOW_SVG"),
        ])
    func variables(name: String, variable: String) throws {
        #expect(try Self.key(name).variable == variable)
    }

    @Test("variables of settings are spelled like their names", arguments: defaults)
    func variable(name: String, value _: String) throws {
        let words = name.replacing(/[a-z](?=[A-Z])/) { "\($0.output)_" }.replacing(".", with: "_")
        #expect(try Self.key(name).variable == "SYNCAGENT_\(words.uppercased())")
    }

    @Test("no two settings share a name or a variable")
    func unique() {
        #expect(Set(SettingKey.all.map(\.name)).count == SettingKey.all.count)
        #expect(Set(SettingKey.all.map(\.variable)).count == SettingKey.all.count)
    }

    @Test("the shown value of a setting sets it to the same")
    func roundTrip() throws {
        var settings = Settings()
        for key in SettingKey.all { try key.set(key.value(in: Settings()), in: &settings) }
        #expect(settings == Settings())
    }

    @Test(
        "a setting is set from text",
        arguments: [
            ("lists.settle", "0s", "0s"), ("lists.rescan", "100ms", "100ms"), ("lists.maxBytes", "1", "1B"),
            ("lists.maxBytes", "64MiB", "64MiB"), ("fetch.maxBytes", "1GiB", "1GiB"),
            ("lists.maxEntries", "1000000", "1000000"),
            ("lists.iconBaseURL", "https://e.org/icons", "https://e.org/icons"), ("lists.iconBaseURL", "", ""),
            ("cache.minFree", "0%", "0%"), ("cache.minFree", "90 %", "90%"), ("cache.minFree", "500MiB", "500MiB"),
            ("lists.iconKeys", "logo, image", "logo,image"), ("fetch.concurrency", "1", "1"),
            ("fetch.maxRate", "1KiB", "1KiB"), ("fetch.maxRate", "1 GiB", "1GiB"), ("fetch.maxRate", "", ""),
            ("fetch.maxRedirects", "0", "0"), ("fetch.userAgent", "curl/8 (x; y)", "curl/8 (x; y)"),
            ("fetch.proxy", "http://proxy", "http://proxy"), ("fetch.proxy", "proxy:3128", "proxy:3128"),
            ("fetch.proxy", "socks5://[::1]", "socks5://[::1]"), ("fetch.proxy", "", ""),
            ("fetch.allowDowngrade", "true", "true"), ("network.allow", "10.0.0.0/8, fd00::/8", "10.0.0.0/8,fd00::/8"),
            ("network.allow", "::1", "::1/128"), ("network.allow", "", ""),
            ("network.allowHosts", "Icons.Corp., .corp,*.A.b,10.0.0.1,::1", "icons.corp,.corp,*.a.b,10.0.0.1,::1"),
            ("network.denyHosts", "a_b.example", "a_b.example"),
            ("images.maxPixels", "4294967296", "4294967296"),
            ("refresh.default", "7d", "7d"),
        ])
    func set(name: String, text: String, value: String) throws {
        var settings = Settings()
        try Self.key(name).set(text, in: &settings)
        #expect(try Self.key(name).value(in: settings) == value)
    }

    @Test(
        "a variable that is none is probably meant for the setting that is spelled most like it",
        arguments: [
            ("SYNCAGENT_FETCH_MAXBYTES", "fetch.maxBytes"), ("SYNCAGENT_FETCH_MAX_BYTE", "fetch.maxBytes"),
            ("SYNCAGENT_LIST_SETTLE", "lists.settle"), ("SYNCAGENT_NETWORK_ALLOWED", "network.allow"),
            ("SYNCAGENT_FECH_MAX", "fetch.maxBytes"), ("SYNCAGENT_cache_grace", nil), ("SYNCAGENT_", nil),
            ("SYNCAGENT_XYZ", nil), ("", nil),
            ("SYNCAGENT_" + String(repeating: "A", count: 10_000), nil),
        ] as [(String, String?)])
    func nearest(variable: String, name: String?) {
        #expect(SettingKey.nearest(toVariable: variable)?.name == name)
    }

    @Test(
        "a value in another form or out of range is an error that changes no setting",
        arguments: [
            ("lists.settle", "100"), ("lists.settle", ""), ("lists.rescan", "99ms"), ("lists.rescan", "0s"),
            ("lists.maxBytes", "0"), ("lists.maxBytes", "65MiB"), ("fetch.maxBytes", "1025MiB"),
            ("lists.maxBytes", "8MB"),
            ("lists.maxEntries", "0"), ("lists.maxEntries", "1000001"), ("lists.maxEntries", "5e4"),
            ("lists.iconBaseURL", "icons/"), ("lists.iconBaseURL", "ftp://e.org/icons/"), ("lists.iconKeys", "icon, "),
            ("cache.minFree", ""), ("cache.minFree", "5 percent"), ("cache.minFree", "91%"), ("cache.minFree", "-1%"),
            ("fetch.concurrency", "0"), ("fetch.concurrency", "1001"),
            ("fetch.perHost", "-1"), ("fetch.perHost", "4 "), ("fetch.connectTimeout", "0ms"),
            ("fetch.maxRate", "1023B"), ("fetch.maxRate", "1025MiB"), ("fetch.maxRate", "0"),
            ("fetch.maxRate", "1MiB/s"),
            ("fetch.maxRedirects", "101"),
            ("fetch.retryBase", "0s"), ("fetch.userAgent", ""), ("fetch.userAgent", "a\r\nX: b"),
            ("fetch.userAgent", "ü"),
            ("fetch.proxy", "junk"),
            ("fetch.allowDowngrade", "yes"), ("fetch.allowDowngrade", "TRUE"), ("network.allow", "10.0.0.0/33"),
            ("network.allow", "example.com"), ("network.allow", "10.0.0.0/8;fd00::/8"), ("images.maxSide", "65536"),
            ("images.maxPixels", "4294967297"), ("refresh.default", "999ms"),
            ("upstream.urls", "https://icons.example.com/manifest.json"),
        ])
    func refuse(name: String, text: String) throws {
        var settings = Settings()
        let key = try Self.key(name)
        let error = #expect(throws: SettingError.self) { try key.set(text, in: &settings) }
        #expect(settings == Settings())
        #expect(error?.name == name && error?.value == text)
        #expect(error?.description.contains("“\(text)” is not a value for \(name): it takes ") == true)
    }

    @Test(
        "the error of a setting shows no password of a URL",
        arguments: [
            ("lists.iconBaseURL", "ftp://me:s3cret@e.org/icons/"), ("upstream.urls", "http://me:s3cret@e.org/up"),
            ("fetch.proxy", "ftp://me:s3cret@e.org"),
        ])
    func password(name: String, text: String) throws {
        var settings = Settings()
        let key = try Self.key(name)
        let error = #expect(throws: SettingError.self) { try key.set(text, in: &settings) }
        #expect(error?.name == name && error?.description.contains("s3cret") == false)
        if key.kind == .list {
            let error = #expect(throws: SettingError.self) { try key.set(elements: [text], in: &settings) }
            #expect(error?.description.contains("s3cret") == false)
        }
    }

    @Test(
        "the error of a setting with several entries names the wrong one",
        arguments: [
            ("network.allow", "10.0.0.0/8, 10.0.0.0/33,::1", "10.0.0.0/33"),
            ("network.allowHosts", "icons.corp, http://icons.corp,a", "http://icons.corp"),
            ("network.denyHosts", "a,b c,d", "b c"),
        ])
    func entry(name: String, text: String, flaw: String) throws {
        var settings = Settings()
        let key = try Self.key(name)
        let error = #expect(throws: SettingError.self) { try key.set(text, in: &settings) }
        #expect(error?.name == name && error?.value == flaw)
    }

    @Test("an error shows the beginning of a long value")
    func longValue() throws {
        var settings = Settings()
        let text = String(repeating: "a", count: 100_000)
        let error = try #require(throws: SettingError.self) { try Self.key("fetch.userAgent").set(text, in: &settings) }
        #expect(error.description.utf8.count < 300)
        #expect(throws: SettingError.self) {
            try Self.key("fetch.userAgent").set(String(repeating: "a", count: 257), in: &settings)
        }
    }
}
