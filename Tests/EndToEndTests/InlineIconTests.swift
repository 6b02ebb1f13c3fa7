// SPDX-License-Identifier: Apache-2.0
import AppLists
import DemoOrigin
import FoundationEssentials
import IconCache
import Reports
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Icons in data: URLs", .timeLimit(.minutes(15)))
struct InlineIconTests {
    @Test("the image of a data: URL is published like any other; commands find it, and tables shorten its URL")
    func inline() async throws {
        try await World.with { world in
            let icon = IconDrawing("Mail").png()
            let url = "data:image/png;base64," + Data(icon).base64EncodedString()
            let bad = "data:image/png;base64,bm90IGFuIGltYWdl"
            let longest = "data:image/png," + String(repeating: "+", count: DataURL.maxLength - 15)
            try world.agent.drop(
                propertyList([("Mail", url), ("Bad", bad), ("Long", longest), ("Longer", longest + "+")]),
                as: "apps.plist")
            try await world.agent.whileRunning { _ in
                let report = try await world.agent.status { $0.inSync && $0.icons.ready == 1 && $0.icons.failed == 2 }
                #expect(report.lists.map(\.problems) == [1])
                try await expectCommands(world, url: url, bad: bad, longest: longest, next: "no retry")
            }
            // An agent that starts judges the image again: its settings may be others.
            try await expectCommands(world, url: url, bad: bad, longest: longest, next: "at the next start")
            #expect(try world.expectWholeCache() == 1)
            let image = try FileBytes.read(world.agent.cache.appending(CacheLayout.byURL(IconURL(url))))
            #expect(image == icon)
            let document = try #require(try IconCache(at: world.agent.cache).document(of: "apps.plist"))
            #expect(document.apps.map(\.icon.text) == [url, bad, longest])
            #expect(world.origin.requestCount == 0)
        }
    }

    private func expectCommands(
        _ world: World, url: String, bad: String, longest: String, next: String
    ) async throws {
        let path = try await world.agent.call("path", "--resolve", url)
        #expect(path.code == 0 && path.output.hasSuffix(".png\n"), "\(path.messages)")
        let failed = try await world.agent.call("path", bad)
        #expect(failed.code == 1)
        #expect(
            failed.messages.hasPrefix(
                "syncagent: data:image/png;base64,… (38 bytes) could not be downloaded (not-an-image). See: syncagent "
                    + "why 'data:image/png;base64,… (38 bytes)' --lists "),
            "\(failed.messages)")
        let list = try await world.agent.call("list", "apps.plist").output
        expectContains(list, "data:image/png;base64,… (")
        let why = try await world.agent.call("why", url).output
        expectContains(why, "the image is in the URL itself")
        #expect(!list.contains("iVBO") && !why.contains("iVBO"))
        let json = try await world.agent.call("why", url, "--json").output
        #expect(json.contains(url))
        let reason = try await world.agent.call("why", longest).output
        expectContains(reason, "not-an-image", next)
        let check = try await world.agent.call("check", world.agent.lists.appending("apps.plist").string)
        #expect(check.code == 0)
        expectContains(
            check.output, "([3].icon): longer than 65536 bytes",
            "will fail: 2 icons: the data is not an image", "(data:image/png;base64,… (38 bytes))\n")
    }
}
