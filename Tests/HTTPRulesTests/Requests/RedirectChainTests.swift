import AgentSettings
// SPDX-License-Identifier: Apache-2.0
import AppLists
import HTTPRules
import Testing

@Suite("Chains of redirects")
struct RedirectChainTests {
    private static func chain(_ url: String, limit: Int = 10, allowDowngrade: Bool = false) throws -> RedirectChain {
        var settings = Settings()
        settings.network.denyHosts = [try #require(HostPattern(".denied.example"))]
        return try RedirectChain(
            from: try FetchTarget(url), limit: limit, allowDowngrade: allowDowngrade,
            policy: settings.network)
    }

    @Test("as many redirects are followed as the limit says, and no more", arguments: [0, 1, 2, 10])
    func limit(limit: Int) throws {
        var chain = try Self.chain("http://a/0", limit: limit)
        for step in 0..<limit { try chain.follow("/\(step + 1)") }
        #expect(chain.target.url == "http://a/\(limit)")
        let failure = #expect(throws: FetchFailure.self) { try chain.follow("/more") }
        #expect(failure?.code == .fetch(.tooManyRedirects))
        #expect(chain.target.url == "http://a/\(limit)")
    }

    @Test(
        "a redirect to a refused place ends the chain",
        arguments: [
            (["/x"], "redirect-loop"), (["./x"], "redirect-loop"), (["#f"], "redirect-loop"),
            (["/y", "/z", "/y"], "redirect-loop"),
            (["http://a/x"], "downgrade-refused"), (["https://b/", "http://b/"], "downgrade-refused"),
            (["ftp://b/"], "scheme-refused"), (["data:image/png;base64,iVBO"], "scheme-refused"),
            (["https://u@b/"], "userinfo-refused"),
            (["https://b:65536/"], "port-refused"), (["https://denied.example/"], "host-refused"),
            (["https://b/", "//icons.DENIED.example.:8443/"], "host-refused"),
            ([nil], "bad-redirect"), ([""], "bad-redirect"), (["https://?y"], "bad-url"),
        ] as [([String?], String)])
    func refuse(locations: [String?], code: String) throws {
        var chain = try Self.chain("https://a/x")
        for location in locations.dropLast() { try chain.follow(location) }
        let before = chain.target
        let failure = #expect(throws: FetchFailure.self) { try chain.follow(locations.last ?? nil) }
        #expect(failure?.code.rawValue == code)
        #expect(failure?.persistence == .lasting)
        #expect(chain.target == before)
    }

    @Test("a chain does not begin at a host that is denied")
    func denied() throws {
        let failure = #expect(throws: FetchFailure.self) { try Self.chain("http://icons.denied.example/") }
        #expect(failure?.code == .url(.hostRefused) && failure?.persistence == .refused)
        #expect(failure?.message.contains("network.denyHosts (.denied.example)") == true)
    }

    @Test("from http to https and within http a redirect may always lead; from https to http if that is allowed")
    func schemes() throws {
        var plain = try Self.chain("http://a/")
        try plain.follow("http://b/")
        try plain.follow("https://c/")
        #expect(throws: FetchFailure.self) { try plain.follow("http://d/") }
        var lenient = try Self.chain("https://a/", allowDowngrade: true)
        try lenient.follow("http://b/")
        #expect(lenient.target.url == "http://b/")
    }

    @Test("only redirect statuses redirect: 300, 304 and 305 do not")
    func statuses() {
        #expect(RedirectChain.statuses == [301, 302, 303, 307, 308])
    }

    @Test(
        "a redirect to what may not be asked for is refused, for today",
        arguments: [
            "ftp://b/", "http://b:65536/", "http://u@b/", "//u@b/", "//b:0/", "http+unix://x/", "file:///etc/passwd",
            "data:,x", "", "http://a,b/", "http://?x", "http://[::1/", "mailto:a@b",
        ])
    func refuseRedirect(location: String) throws {
        let target = try FetchTarget("https://a/d/x.png")
        var chain = try RedirectChain(
            from: target, limit: 10, allowDowngrade: true, policy: Settings().network)
        let failure = #expect(throws: FetchFailure.self) { try chain.follow(location) }
        #expect(failure?.persistence == .lasting)
    }
}
