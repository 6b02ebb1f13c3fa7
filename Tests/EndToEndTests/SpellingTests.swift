// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import IconCache
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

/// Names and URLs that look the same and are not: to file systems and servers their bytes count.
@Suite("Names and URLs that look the same", .timeLimit(.minutes(15)))
struct SpellingTests {
    private static let (composed, decomposed) = ("\u{FC}.plist", "u\u{308}.plist")

    @Test("list names and URLs that are the same text in different bytes are different lists and icons")
    func spellings() async throws {
        try await World.with { world in
            let urls = ["caf\u{E9}", "cafe\u{301}"].map { "\(world.origin.baseURL)/icons/\($0).png" }
            try #require(urls[0] == urls[1])
            try await world.agent.whileRunning { _ in
                try world.drop(["Mail"], as: Self.composed)
                try world.drop(["Maps", "Music"], as: Self.decomposed)
                let (first, second) = (ListName(Self.composed), ListName(Self.decomposed))
                try await world.published(["Mail"], as: first)
                try await world.published(["Maps", "Music"], as: second)
                let report = try await world.agent.status { $0.inSync && $0.lists.count == 2 }
                #expect(report.lists.map(\.name) == [second, first] && report.lists.map(\.ready) == [2, 1])
                let wait = try await world.agent.call("sync", "--wait", Self.decomposed)
                #expect(wait.code == 0, "\(wait.messages)")
                try #require(unlink(world.agent.lists.appending(Self.composed).string) == 0)
                try await world.agent.status { $0.inSync && $0.lists.map(\.name) == [second] }
                try await world.published(["Maps", "Music"], as: second)
                #expect(try IconCache(at: world.agent.cache).document(of: first) == nil)

                let requests = world.origin.requestCount
                try world.agent.drop(propertyList(urls.map { ("App", $0) }), as: "apps.plist")
                try await world.agent.status { $0.inSync && $0.lists.count == 2 && $0.icons.ready == 4 }
                #expect(world.origin.requestCount == requests + 2)
            }
            // A restart finds them as they were.
            try world.drop(["Mail"], as: Self.composed)
            #expect(try await world.agent.call("run", "--once").code == 0)
            #expect(try IconCache(at: world.agent.cache).manifest().lists.count == 3)
            let document = try #require(try IconCache(at: world.agent.cache).document(of: "apps.plist"))
            #expect(document.apps.map(\.icon) == urls.map(IconURL.init) && document.apps.allSatisfy(\.isReady))
            for url in urls { #expect(try await world.agent.call("path", url).code == 0) }
            #expect(try world.expectWholeCache() == 5)
        }
    }

    @Test("URLs that differ in their fragment alone are one request, also of a list that comes later")
    func fragments() async throws {
        try await World.with { world in
            let urls = (0..<12).map { "\(world.origin.baseURL)/icons/Mail.png\($0 == 0 ? "" : "#\($0)")" }
            try await world.agent.whileRunning { _ in
                try world.agent.drop(propertyList(urls.dropLast().map { ("App", $0) }), as: "apps.plist")
                try await world.agent.status { $0.inSync && $0.icons.ready == 11 }
                try world.agent.drop(propertyList([("App", urls[11])]), as: "more.plist")
                try await world.agent.status { $0.inSync && $0.icons.ready == 12 }
            }
            #expect(world.origin.requestCount(for: "/icons/Mail.png") == 1)
            let cache = IconCache(at: world.agent.cache)
            let lists: [ListName] = ["apps.plist", "more.plist"]
            let states = try lists.flatMap { try cache.document(of: $0)?.apps.map(\.state) ?? [] }
            #expect(states.count == 12 && states.allSatisfy { $0 == states.first })
            for url in urls { #expect(try await world.agent.call("path", url).code == 0) }
        }
    }

    @Test("a list whose name is not UTF-8 is rejected, and shown with its bytes escaped")
    func notUTF8() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            let path =
                Array(world.agent.lists.appending("caf").string.utf8CString.dropLast())
                + [CChar(bitPattern: 0xE9)] + Array(".plist".utf8CString)
            let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
            try #require(file >= 0)
            close(file)
            #expect(try await world.agent.call("run", "--once").code == 1)
            try await world.agent.whileRunning { _ in
                let report = try await world.agent.status { $0.inSync && $0.lists.count == 2 }
                let row = try #require(report.lists.last)
                #expect(row.name == "caf\\xE9.plist" && row.state == "rejected")
                #expect(row.error?.contains("not UTF-8") == true, "\(row)")
                #expect(report.lists.first?.ready == 1)
                let list = try await world.agent.call("list", "caf\\xE9.plist")
                #expect(list.code == 1)
                expectContains(list.messages, "[name-not-utf8]")
            }
        }
    }
}
