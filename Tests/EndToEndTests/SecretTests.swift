// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import DemoOrigin
import Glibc
import IconCache
import Reports
import Subprocess
import SyncAgent
import SyncPlan
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Secrets", .timeLimit(.minutes(15)))
struct SecretTests {
    /// What stands in every URL where secrets do; it must show up nowhere.
    private static let secret = "s3cr3t"

    /// URLs with secrets in them, each of which ends in another way, with the code that it ends with.
    private static func urls(_ origin: TestOrigin) -> [(url: String, code: String)] {
        let base = origin.baseURL
        let inAuthority = base.replacing("127.0.0.1", with: "user:\(secret)@127.0.0.1")
        for (path, location) in [
            ("gone", "/nothing.png?key=\(secret)"), ("ftp", "ftp://user:\(secret)@h.example/?\(secret)"),
            ("user", "\(inAuthority)/a.png?\(secret)"), ("private", "http://10.0.0.1/?\(secret)"),
            ("port", "http://h.example:65536/?\(secret)"), ("loop", "/loop?\(secret)"),
            ("nowhere", "http://?\(secret)"),
            ("denied", "http://denied.example/?\(secret)"),
        ] {
            origin.respond(to: "/\(path)", with: OriginReply(status: 302, headers: [("Location", location)]))
        }
        origin.respond(to: "/text.png", with: OriginReply(body: Array("no image".utf8)))
        origin.respond(to: "/error.png", with: OriginReply(status: 503))
        return [
            ("\(base)/icons/Mail.png?key=\(secret)", "ready"), ("\(base)/icons/Maps.png?\(secret)#\(secret)", "ready"),
            ("\(base)/nothing.png?key=\(secret)", "http-404"), ("\(base)/error.png?a=b&key=\(secret)", "http-503"),
            ("\(base)/text.png?key=\(secret)", "not-an-image"), ("\(base)/gone?\(secret)", "http-404"),
            ("\(base)/ftp?\(secret)", "scheme-refused"), ("\(base)/user?\(secret)", "userinfo-refused"),
            ("\(base)/private?\(secret)", "address-refused"), ("\(base)/port?\(secret)", "port-refused"),
            ("\(base)/loop?\(secret)", "redirect-loop"), ("\(base)/nowhere?\(secret)", "bad-url"),
            ("\(base)/denied?\(secret)", "host-refused"),
            ("http://10.0.0.1/?key=\(secret)", "address-refused"), ("http://127.0.0.1:1/?key=\(secret)", "connect"),
            ("http://denied.example/?key=\(secret)", "host-refused"), ("\(inAuthority)/a.png", "userinfo-refused"),
            ("http://user:\(secret)?@h.example/", "bad-url"),
            ("ftp://user:\(secret)@h.example/?\(secret)", "scheme-refused"),
            ("http://h.example:65536/?\(secret)", "port-refused"), ("data:image/png,\(secret)", "not-an-image"),
        ]
    }

    @Test("secrets in URLs of lists, redirects and proxies are in no log, status, table or message")
    func urls() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_NETWORK_DENY_HOSTS", "denied.example")
            let urls = Self.urls(world.origin)
            // The last two are one text in two spellings, of which the second one is passed over.
            let twins = ["e\u{301}", "\u{E9}"].map { "http://127.0.0.1:1/\($0)?key=\(Self.secret)" }
            try world.agent.drop(propertyList((urls.map(\.url) + twins).map { ("App", $0) }), as: "apps.plist")
            let run = try await world.agent.call("run", "--once", "--log-level", "trace")
            #expect(run.code == 1)
            expectContains(run.messages, "debug icon downloaded")
            expectNoSecret(in: run, "run --once")

            let document = try #require(try IconCache(at: world.agent.cache).document(of: "apps.plist"))
            for (app, expected) in zip(document.apps, urls) {
                #expect(app.icon.text == expected.url)
                #expect(app.code == expected.code, "\(expected.url)")
            }
            try await expectNoSecret(world, of: ["why", "path"], urls.map(\.url) + twins)
            try await world.agent.whileRunning { _ in
                try await world.agent.status { !$0.lists.isEmpty && $0.downloads.active + $0.downloads.queued == 0 }
                try await expectNoSecret(world, of: ["why"], urls.map(\.url) + twins)
            }
            try await expectNoPassword(world)
        }
    }

    /// Runs commands with a proxy that has a password, from a setting and from the environment.
    private func expectNoPassword(_ world: World) async throws {
        for (variable, host) in [("SYNCAGENT_FETCH_PROXY", "a.invalid"), ("http_proxy", "b.invalid")] {
            let icon = "http://\(host)/a.png"
            try world.agent.drop(propertyList([("Mail", icon)]), as: "apps.plist")
            let wrong = world.setting(variable, "ftp://user:\(Self.secret)@p.example:1")
            let refusal = try await wrong.agent.call("run", "--once")
            #expect(refusal.code == 78)
            expectContains(refusal.messages, "“…”")
            expectNoSecret(in: refusal, "run --once")
            let closed = world.setting(variable, "http://user:\(Self.secret)@127.0.0.1:1")
            expectNoSecret(in: try await closed.agent.call("run", "--once", "--log-level", "trace"), "run --once")
            let why = try await closed.agent.call("why", icon)
            expectContains(why.output, "through the proxy 127.0.0.1:1")
            expectNoSecret(in: why, "why")
        }
    }

    /// Runs the commands that tell of lists, and those that take a URL.
    private func expectNoSecret(_ world: World, of commands: [String], _ urls: [String]) async throws {
        let list = world.agent.lists.appending("apps.plist").string
        for command in [["status"], ["status", "--json"], ["list"], ["list", "apps.plist"], ["check", list]] {
            expectNoSecret(in: try await world.agent.call(command), command.joined(separator: " "))
        }
        for url in urls + ["http://h.example/unknown?\(Self.secret)"] {
            for command in commands {
                expectNoSecret(in: try await world.agent.call([command, url]), "\(command) \(url)")
            }
        }
    }

    private func expectNoSecret(in answer: (code: Int32, output: String, messages: String), _ what: String) {
        #expect(!answer.output.contains(Self.secret), "\(what): \(answer.output)")
        #expect(!answer.messages.contains(Self.secret), "\(what): \(answer.messages)")
    }

    @Test("a credential is sent to its server for its lists, and shown to nobody else")
    func credentials() async throws {
        try await World.with { world in
            let (origin, agent) = (world.origin, world.agent)
            let sent = Mutex<[String: [String?]]>([:])
            func gate(_ path: String, _ reply: OriginReply) {
                origin.respond(to: path) { request in
                    let token = request.headers["authorization"]
                    sent.withLock { $0[path, default: []].append(token) }
                    return path.hasPrefix("/in/") && token != "Bearer \(Self.secret)" ? OriginReply(status: 401) : reply
                }
            }
            let icon = OriginReply.icon(IconDrawing("Mail"))
            let elsewhere = origin.baseURL.replacing("127.0.0.1", with: "localhost")
            gate("/in/1.png", icon)
            gate("/in/2.png", OriginReply(status: 302, headers: [("Location", "/in/1.png")]))
            gate("/in/3.png", OriginReply(status: 302, headers: [("Location", "\(elsewhere)/out/1.png")]))
            gate("/in/4.png", icon)
            gate("/out/1.png", icon)
            gate("/out/2.png", OriginReply(status: 302, headers: [("Location", "/in/4.png")]))
            let configuration = world.folder.appending("syncagent")
            try makeFolder(configuration)
            try write(
                """
                [network]
                allowHosts = ["127.0.0.1", "localhost"]
                [cache]
                mode = "0750"
                """, to: configuration.appending("syncagent.toml"))
            let file = configuration.appending("auth.toml")
            @Sendable func writeCredentials(_ token: String, _ more: String = "") throws {
                try write(
                    """
                    [[credentials]]
                    host = "127.0.0.1"
                    port = \(origin.port)
                    path = "/in"
                    lists = ["own.plist"]
                    http = true
                    bearer = "\(token)"
                    """ + more, to: file)
                try check(chmod(file.string, 0o600))
            }
            let own = ["in/1.png", "in/2.png", "in/3.png", "out/2.png"].map { "\(origin.baseURL)/\($0)" }
            let other = ["in/4.png?other", "out/2.png?other"].map { "\(origin.baseURL)/\($0)" }
            try agent.drop(propertyList(own.map { ("App", $0) }), as: "own.plist")
            try agent.drop(propertyList(other.map { ("App", $0) }), as: "other.plist")

            try writeCredentials(Self.secret)
            try check(chmod(file.string, 0o644))
            let open = try await agent.call("run", "--once")
            #expect(open.code == 78 && open.messages.contains("0600"), "\(open.messages)")
            try writeCredentials(Self.secret, "\nsecret = \"\(Self.secret)\"")
            let unknown = try await agent.call("run", "--once")
            #expect(unknown.code == 78 && unknown.messages.contains("auth.toml:8: "), "\(unknown.messages)")
            expectNoSecret(in: unknown, "run --once")

            try writeCredentials("wrong\(Self.secret)")
            try await agent.whileRunning { process in
                try await agent.status { $0.lists.count == 2 && $0.icons.failed == 6 }
                try writeCredentials(Self.secret)
                try #require(kill(process.value, SIGHUP) == 0)
                try await agent.status { $0.icons.ready == own.count && $0.icons.failed == other.count }
                for command in [
                    ["status", "--json"], ["list", "own.plist"], ["config"], ["config", "--json"],
                    ["events", "--json"],
                    ["check", agent.lists.appending("own.plist").string],
                ] + (own + other).map({ ["why", $0] }) {
                    expectNoSecret(in: try await agent.call(command), "\(command)")
                }
                let commandLine = String(
                    decoding: try FileBytes.read(FilePath("/proc/\(process)/cmdline")), as: UTF8.self)
                #expect(!commandLine.contains(Self.secret))
            }
            let log = try await agent.call("run", "--once", "--log-level", "trace")
            expectNoSecret(in: log, "run --once")
            let refused = try await agent.call("why", other[0])
            expectContains(refused.output, "auth-refused")

            sent.withLock { sent in
                let asked = ["/in/4.png": sent["/in/4.png"]?.count, "/out/1.png": sent["/out/1.png"]?.count]
                #expect(asked["/in/4.png"] != nil && sent["/in/4.png"]?.contains(nil) == false)
                #expect(sent["/out/1.png"]?.allSatisfy { $0 == nil } == true)
                #expect(sent["/out/2.png"]?.allSatisfy { $0 == nil } == true)
            }
            // The link to the socket leads nowhere when the agent has ended.
            for path in try files(in: world.folder) where !path.hasSuffix("auth.toml") && !path.hasSuffix(".sock") {
                let bytes = try FileBytes.read(world.folder.appending(path))
                #expect(!String(decoding: bytes, as: UTF8.self).contains(Self.secret), "\(path)")
            }
            let export = try await agent.call("export", world.folder.appending("export").string)
            #expect(export.code == 1 && export.messages.contains("public = true"), "\(export.messages)")
        }
    }
}

extension AppListDocument.App {
    /// The state in a word, or the code of the failure.
    fileprivate var code: String {
        switch state {
        case .ready: "ready"
        case .pending: "pending"
        case .failed(let code): code
        }
    }
}
