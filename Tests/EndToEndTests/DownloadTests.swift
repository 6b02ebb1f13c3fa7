// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import IconCache
import Reports
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Downloads", .timeLimit(.minutes(15)), .serialized)
struct DownloadTests {
    @Test("with fetch.maxRate, downloads share the rate in turns, and waiting for a turn counts for no timeout")
    func rate() async throws {
        try await World.with { world in
            // At 50 KiB a second, each of the eight takes longer than a download may, and waits for each turn longer than
            // a server may be silent.
            let names = (0..<8).map { "icon-\($0)" }
            for name in names {
                let icon = IconDrawing(name, paddedTo: name == "icon-0" ? 100_000 : 24_000)
                world.origin.respond(to: TestOrigin.iconPath(name), with: .icon(icon))
            }
            let limited = world.setting("SYNCAGENT_FETCH_MAX_RATE", "50KiB")
                .setting("SYNCAGENT_FETCH_TOTAL_TIMEOUT", "2s").setting("SYNCAGENT_FETCH_IDLE_TIMEOUT", "1s")
                .setting("SYNCAGENT_FETCH_PER_HOST", "8")
            try limited.drop(names)
            let start = ContinuousClock.now
            try await limited.agent.whileRunning { _ in
                try await world.origin.received(names.count)
                let requested = ContinuousClock.now
                try await limited.agent.status { $0.icons.ready >= 7 }
                let small = ContinuousClock.now
                try await limited.published(names)
                let all = ContinuousClock.now
                // At least 168,000 bytes until the small ones are there, more if the large one had its turns, and 268,000
                // in all; less a third of a second that the rate is ahead.
                #expect(small - start > .seconds(2.9) && all - start > .seconds(4.9))
                #expect((small - requested) * 10 < (all - requested) * 9, "the large one holds up the others")
                #expect(try await limited.agent.status { $0.inSync }.downloads.waiting == 0)
            }
            #expect(world.origin.requestCount == names.count)
        }
    }

    @Test("why explains a ready, a failed and a stale icon, with the last requests, while the agent runs and later")
    func why() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_REFRESH_MINIMUM", "1s")
            let base = world.origin.baseURL
            let headers = [("Cache-Control", "max-age=1, must-revalidate")]
            world.origin.respond(to: "/gone.png", with: OriginReply(status: 404))
            world.origin.respond(to: "/a.png", with: OriginReply(status: 302, headers: [("Location", "/b.png?x=y")]))
            world.origin.respond(to: "/b.png") { request in
                request.number == 1
                    ? OriginReply(headers: headers, body: IconDrawing("Notes").png()) : OriginReply(status: 503)
            }
            let icons = [
                ("Mail", world.origin.iconURL("Mail")), ("Gone", "\(base)/gone.png"), ("Notes", "\(base)/a.png"),
            ]
            try world.agent.drop(propertyList(icons), as: "apps.plist")
            try await world.agent.whileRunning { _ in
                try await world.agent.status {
                    $0.inSync && $0.icons.ready == 2 && $0.icons.failed == 1 && $0.icons.stale == 1
                }
                try await expectReasons(world)
            }
            try await expectReasons(world)
            // A list that was not published yet.
            let later = "\(base)/later.png"
            try world.agent.drop(propertyList([("Later", later)]), as: "later.plist")
            try await waitUntil { try await world.agent.call("why", later).code == 0 }
            expectContains(
                try await world.agent.call("why", later).output, "later.plist", "pending", "download at the next start")
            let path = try await world.agent.call("path", later)
            #expect(path.code == 1)
            expectContains(path.messages, "\(later) has not been published yet.")
        }
    }

    private func expectReasons(_ world: World) async throws {
        let base = world.origin.baseURL
        let ready = try await world.agent.call("why", world.origin.iconURL("Mail"))
        #expect(ready.code == 0)
        expectContains(ready.output, "apps.plist", "ready", world.agent.cache.string + "/icons/", "refresh in ")

        let gone = "\(base)/gone.png"
        expectContains(try await world.agent.call("why", gone).output, "once, http-404", "retry in ")
        expectContains(
            try await world.agent.call("why", gone, "--json").output, "\"code\": \"http-404\"",
            "\"lists\": [ \"apps.plist\" ]")

        let stale = "\(base)/a.png"
        expectContains(
            try await world.agent.call("why", stale).output, "requests   \(stale): 302, allowed by network.allow\n",
            "           \(base)/b.png?…: 503, allowed by network.allow\n",
            "its last refresh failed (http-503). The image is still used.\n")
        expectContains(
            try await world.agent.call("why", stale, "--json").output,
            "\"trail\": [ { \"url\": \"\(stale)\", \"status\": 302,", "\"stale\": \"Stale since ")

        #expect(try await world.agent.call("why", "https://example.com/unknown.png").code == 1)
    }

    @Test("an agent requests only what its network settings allow; a denied host costs no icon that is ready")
    func policy() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            var refusing = world.agent
            refusing.runOptions = ["--log-level", "error"]
            try await refusing.whileRunning { _ in
                try await world.agent.status { $0.inSync && $0.icons.failed == 1 }
            }
            #expect(world.origin.requestCount == 0)
            try await world.agent.whileRunning { _ in try await world.published(["Mail"]) }

            let denying = world.setting("SYNCAGENT_NETWORK_DENY_HOSTS", "127.0.0.1,.example.com")
            try denying.drop(["Mail", "Maps"])
            #expect(try await denying.agent.call("run", "--once").code == 1)
            #expect(world.origin.requestCount == 1)
            #expect(try await denying.agent.call("path", world.origin.iconURL("Mail")).code == 0)
            expectContains(try await denying.agent.call("list", "apps.plist").output, "host-refused")
            expectContains(
                try await denying.agent.call("why", world.origin.iconURL("Maps")).output,
                "network.denyHosts (127.0.0.1)")
            let list = world.agent.lists.appending("apps.plist").string
            expectContains(
                try await world.agent.call("check", list, "--set", "network.denyHosts=127.0.0.1").output,
                "[host-refused]")
        }
    }

    @Test("pause keeps downloads from starting, over a restart too, until resume; without an agent both exit with 69")
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
                #expect(try await world.agent.call("pause").code == 0)
                let refresh = try await world.agent.call("refresh", "apps.plist")
                #expect(refresh.output == "1 icon is refreshed once downloads are resumed: run syncagent resume.\n")
            }
            #expect(try await world.agent.call("resume").code == 69)
        }
    }
}
