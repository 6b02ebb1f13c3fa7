// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import IconCache
import Reports
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("How icons are asked for", .serialized)
struct DownloadTests {
    @Test("an icon that is no longer fresh is asked for with its tag, and a 304 changes nothing on disk")
    func revalidation() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_REFRESH_MINIMUM", "1s")
            let names = (0..<50).map { "icon-\($0)" }
            let conditional = Tally()
            for name in names {
                world.origin.respond(to: DemoOrigin.iconPath(name)) { request in
                    let drawing = IconDrawing(name)
                    let headers = [("ETag", drawing.entityTag), ("Cache-Control", "max-age=1")]
                    guard request.headers["if-none-match"] == drawing.entityTag else {
                        return OriginReply(headers: headers, body: drawing.png())
                    }
                    conditional.add(name)
                    return OriginReply(status: 304, headers: headers)
                }
            }
            try await world.agent.whileRunning { _ in
                try world.drop(names)
                try await world.published(names)
                let generation = try IconCache(at: world.agent.cache).manifest().generation
                try await conditional.reach(names.count)
                try await world.agent.status { $0.inSync }
                #expect(try IconCache(at: world.agent.cache).manifest().generation == generation)
                #expect(try world.expectWholeCache() == names.count)
            }
        }
    }

    @Test("with a limit on the rate, all icons share it, a large one does not hold up the others, and no time runs out")
    func rate() async throws {
        try await World.with { world in
            // At 100 KiB a second, each of the eight takes longer than a download may, and longer than a server may be
            // silent.
            let names = (0..<8).map { "icon-\($0)" }
            for name in names {
                let icon = IconDrawing(name, paddedTo: name == "icon-0" ? 150_000 : 50_000)
                world.origin.respond(to: DemoOrigin.iconPath(name), with: .icon(icon))
            }
            let limited = world.setting("SYNCAGENT_FETCH_MAX_RATE", "100KiB")
                .setting("SYNCAGENT_FETCH_TOTAL_TIMEOUT", "2s").setting("SYNCAGENT_FETCH_IDLE_TIMEOUT", "1s")
                .setting("SYNCAGENT_FETCH_PER_HOST", "8")
            try limited.drop(names)
            let start = ContinuousClock.now
            try await limited.agent.whileRunning { _ in
                try await limited.agent.status { $0.icons.ready >= 7 }
                let others = ContinuousClock.now - start
                try await limited.published(names)
                let all = ContinuousClock.now - start
                // 400,000 bytes until the small ones are there, as each has its turn, and 500,000 in all.
                #expect(others > .seconds(3) && all > .seconds(4.7) && all < .seconds(8))
                #expect(try await limited.agent.status { $0.inSync }.downloads.waiting == 0)
            }
        }
    }

    @Test("why tells of an icon, with the agent running and stopped")
    func why() async throws {
        try await World.with { world in
            world.origin.respond(to: "/gone.png", with: OriginReply(status: 404))
            let gone = world.origin.baseURL + "/gone.png"
            let mail = world.origin.iconURL("Mail")
            try world.agent.drop(propertyList([("Mail", mail), ("Gone", gone)]), as: "apps.plist")
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.inSync && $0.icons.ready == 1 && $0.icons.failed == 1 }
                try await expectReasons(world, mail: mail, gone: gone)
                #expect(try await world.agent.call("why", "https://example.com/unknown.png").code == 1)
            }
            try await expectReasons(world, mail: mail, gone: gone)
            #expect(try await world.agent.call("why", "https://example.com/unknown.png").code == 1)
        }
    }

    private func expectReasons(_ world: World, mail: String, gone: String) async throws {
        let ready = try await world.agent.call("why", mail)
        #expect(ready.code == 0)
        for words in ["apps.plist", "ready", world.agent.cache.string + "/icons/", "refresh in "] {
            #expect(ready.output.contains(words), "\(ready.output)")
        }
        let failed = try await world.agent.call("why", gone)
        #expect(
            failed.output.contains("once, http-404") && failed.output.contains("retry in "), "\(failed.output)")
        let json = try await world.agent.call("why", gone, "--json").output
        #expect(json.contains("\"code\": \"http-404\"") && json.contains("\"lists\": [ \"apps.plist\" ]"), "\(json)")
    }

    @Test("why tells the way of the last download and that an image is stale, also after the agent has ended")
    func trail() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_REFRESH_MINIMUM", "1s")
            let base = world.origin.baseURL
            let headers = [("Cache-Control", "max-age=1, must-revalidate")]
            world.origin.respond(to: "/a.png", with: OriginReply(status: 302, headers: [("Location", "/b.png?x=y")]))
            world.origin.respond(to: "/b.png") { request in
                request.number == 1
                    ? OriginReply(headers: headers, body: IconDrawing("Mail").png()) : OriginReply(status: 503)
            }
            let url = base + "/a.png"
            try world.agent.drop(propertyList([("Mail", url)]), as: "apps.plist")
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.icons.stale == 1 }
                try await expectTrail(world, url)
            }
            try await expectTrail(world, url)
        }
    }

    private func expectTrail(_ world: World, _ url: String) async throws {
        let why = try await world.agent.call("why", url)
        for words in [
            "requests   \(url): 302, allowed by network.allow\n",
            "           \(world.origin.baseURL)/b.png?…: 503, allowed by network.allow\n",
            "its last refresh failed (http-503). The image is still used.\n",
        ] {
            #expect(why.output.contains(words), "\(why.output)")
        }
        let json = try await world.agent.call("why", url, "--json").output
        #expect(json.contains("\"trail\": [ { \"url\": \"\(url)\", \"status\": 302,"), "\(json)")
        #expect(json.contains("\"stale\": \"Stale since "), "\(json)")
    }

    @Test("a host in network.denyHosts is asked for nothing, and what is on disk of it stays")
    func denied() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            #expect(try await world.agent.call("run", "--once").code == 0)
            let denying = world.setting("SYNCAGENT_NETWORK_DENY_HOSTS", "127.0.0.1,.example.com")
            try denying.drop(["Mail", "Maps"])
            #expect(try await denying.agent.call("run", "--once").code == 1)
            #expect(world.origin.requestCount == 1)
            #expect(try await denying.agent.call("path", world.origin.iconURL("Mail")).code == 0)
            #expect(try await denying.agent.call("list", "apps.plist").output.contains("host-refused"))
            let why = try await denying.agent.call("why", world.origin.iconURL("Maps"))
            #expect(why.output.contains("network.denyHosts (127.0.0.1)"), "\(why.output)")
            let list = world.agent.lists.appending("apps.plist").string
            let check = try await world.agent.call("check", list, "--set", "network.denyHosts=127.0.0.1")
            #expect(check.output.contains("[host-refused]"))
        }
    }

    @Test("a pause starts no download, holds over a restart, and ends by resume; without an agent both end with 69")
    func pause() async throws {
        try await World.with { world in
            #expect(try await world.agent.call("pause").code == 69)
            try await world.agent.whileRunning { _ in
                #expect(try await world.agent.call("pause").code == 0)
                try world.drop(["Mail"])
                let report = try await world.agent.status { $0.lists.count == 1 && $0.downloads.blocked == 1 }
                #expect(report.state == .paused)
            }
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.state == .paused && $0.downloads.blocked == 1 }
                #expect(world.origin.requestCount == 0)
                #expect(try await world.agent.call("resume").code == 0)
                try await world.published(["Mail"])
            }
            #expect(try await world.agent.call("resume").code == 69)
        }
    }
}
