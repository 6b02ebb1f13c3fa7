// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import DemoOrigin
import IconCache
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Dropped app lists", .timeLimit(.minutes(15)))
struct ListTests {
    @Test("a list's icons are on disk where path says, and not downloaded again if the list changes within the grace")
    func drop() async throws {
        try await World.with { world in
            try await world.agent.whileRunning { _ in
                try world.drop(["Mail", "Maps"])
                try await world.published(["Mail", "Maps"])
                #expect(try world.expectWholeCache() == 2)
                let answer = try await world.agent.call("path", "--resolve", world.origin.iconURL("Mail"))
                #expect(answer.code == 0)
                let path = FilePath(String(answer.output.dropLast()))
                #expect(try FileBytes.read(path) == IconDrawing("Mail").png())
                #expect(path.isAbsolute && path.extension == "png")
                // An icon is removed from the list, and named again.
                try world.drop(["Maps"])
                try await world.published(["Maps"])
                try await world.agent.status { $0.icons.retired == 1 && $0.cache.images == 2 }
                try world.drop(["Mail", "Maps"])
                try await world.published(["Mail", "Maps"])
                // A list is renamed, and another one removed.
                try world.drop(["Music"], as: "other.plist")
                try await world.published(["Music"], as: "other.plist")
                let lists = world.agent.lists
                try lists.appending("apps.plist").move(to: lists.appending("renamed.plist"))
                try await world.published(["Mail", "Maps"], as: "renamed.plist")
                try world.remove("other.plist")
                try await world.agent.status { $0.inSync && $0.lists.map(\.name) == ["renamed.plist"] }
                let manifest = try IconCache(at: world.agent.cache).manifest()
                #expect(manifest.lists.keys.sorted() == ["renamed.plist"])
                #expect(world.origin.requestCount == 3)
            }
        }
    }

    @Test("path prints a name that leads to each new image of an icon; with --resolve it is the file of each image")
    func stablePath() async throws {
        try await World.with { world in
            try await world.agent.whileRunning { _ in
                try world.drop(["Mail"])
                try await world.published(["Mail"])
                let url = world.origin.iconURL("Mail")
                let stable = try await world.agent.call("path", url).output
                let first = try await world.agent.call("path", "--resolve", url).output
                #expect(stable == world.agent.cache.appending(CacheLayout.byURL(IconURL(url))).string + "\n")
                world.origin.respond(to: TestOrigin.iconPath("Mail"), with: .icon(IconDrawing("Other")))
                try #require(try await world.agent.call("refresh", "--full", url).code == 0)
                try await waitUntil { try await world.agent.call("path", "--resolve", url).output != first }
                #expect(try await world.agent.call("path", url).output == stable)
                let json = try await world.agent.call("path", "--json", url).output
                expectContains(json, "\"stablePath\": \"\(stable.dropLast())\" }")
                #expect(try FileBytes.read(FilePath(String(stable.dropLast()))) == IconDrawing("Other").png())
                #expect(try FileBytes.read(FilePath(String(first.dropLast()))) == IconDrawing("Mail").png())
            }
        }
    }

    @Test("a changed list has its new icons downloaded, and its retired ones evicted after the grace")
    func change() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_CACHE_GRACE", "0s")
            try await world.agent.whileRunning { _ in
                try world.drop(["Mail", "Maps"])
                try await world.published(["Mail", "Maps"])
                try world.drop(["Maps", "Music"])
                try await world.published(["Maps", "Music"])
                try await world.agent.status { $0.cache.images == 2 && $0.icons.retired == 0 }
                #expect(world.origin.requestCount == 3)
                #expect(try files(in: world.agent.cache.appending("icons")).count == 2)
                #expect(try files(in: world.agent.cache.appending("by-url")).count == 2)
                #expect(try await world.agent.call("path", world.origin.iconURL("Mail")).code == 1)
            }
        }
    }

    @Test("a list replaced by garbage keeps its last good version, also over a restart")
    func garbage() async throws {
        try await World.with { world in
            try await world.agent.whileRunning { _ in
                try world.drop(["Mail"])
                try await world.published(["Mail"])
                try world.agent.drop("<plist><array><dict>", as: "apps.plist")
                try world.agent.drop("", as: "new.plist")
                let report = try await world.agent.status { report in
                    report.lists.map(\.state) == ["last-good", "rejected"]
                }
                #expect(report.lists.allSatisfy { $0.error != nil })
                #expect(report.lists[0].ready == 1)
                let status = try await world.agent.call("status")
                #expect(status.code == 1)
                expectContains(status.output, "last-good", "rejected")
            }
            let stopped = try await world.agent.call("status", "--json")
            #expect(stopped.code == 3)
            expectContains(stopped.output, "\"last-good\"", "\"rejected\"")
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.lists.map(\.state) == ["last-good", "rejected"] }
                #expect(try world.expectWholeCache() == 1)
                try world.drop(["Mail", "Maps"])
                try await world.published(["Mail", "Maps"])
            }
            #expect(world.origin.requestCount == 2)
        }
    }

    @Test("a list whose URLs are wrapped, or lost one by one or all at once, keeps every icon, and check says so")
    func spoiled() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_CACHE_GRACE", "0s")
            let names = ["Mail", "Maps", "Music"]
            try world.drop(names)
            try await world.agent.whileRunning { _ in
                try await world.published(names)
                let versions:
                    [(spoil: (String) -> String, state: StatusReport.List.State, problems: Int, codes: [Int32])] =
                        [
                            ({ "\n\t\($0)\n      " }, .ok, 0, [0, 0]),
                            ({ $0.contains("Maps") ? "" : $0 }, .ok, 1, [0, 1]), ({ _ in "" }, .lastGood, 1, [65, 65]),
                        ]
                for version in versions {
                    let list = propertyList(names.map { ($0, version.spoil(world.origin.iconURL($0))) })
                    try world.agent.drop(list, as: "apps.plist")
                    _ = try await world.agent.call("sync", "--wait", "apps.plist")
                    let file = world.agent.lists.appending("apps.plist").string
                    for (options, code) in zip([[], ["--strict"]], version.codes) {
                        #expect(try await world.agent.call(["check", file] + options).code == code, "\(version.state)")
                    }
                    let state = Word(version.state)
                    let found = try await world.agent.status { $0.inSync && $0.lists.first?.state == state }
                    #expect(found.lists.first?.problems == version.problems && found.icons.retired == 0)
                    try await world.published(names)
                    guard version.problems == 1, version.state == .ok else { continue }
                    expectContains(
                        try await world.agent.call("list", "apps.plist").output,
                        "ignored: [1].icon: empty; the app keeps its last icon")
                    expectContains(
                        try await world.agent.call("status").output,
                        "entries-ignored (notice): 1 entry or value of 1 list is ignored\n  1 app keeps its last icon: Maps\n"
                    )
                }
                expectContains(try await world.agent.call("list", "apps.plist").output, "no-usable-entry")
            }
            #expect(world.origin.requestCount == 3)
        }
    }

    @Test("lists of each shape are published: OpenStep, binary, Munki with digests, and install manifests")
    func shapes() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_LISTS_ICON_BASE_URL", world.origin.baseURL + "/icons")
            let url = { @Sendable in world.origin.iconURL($0) }
            let hash = Digest.of(IconDrawing("At Home").png())
            try await world.agent.whileRunning { _ in
                try world.agent.drop("( \"\(url("A"))\", \"\(url("B"))\" )", as: "strings.plist")
                try world.agent.drop("{ apps = ( { name = C; icon = \"\(url("C"))\"; } ); }", as: "nested.plist")
                try world.agent.drop("{ D = \"\(url("D"))\"; E = \"\(url("E"))\"; }", as: "names.plist")
                // An array of one reference, and the string that it refers to.
                let string: [UInt8] =
                    [0x5F, 0x11] + BinaryList.bigEndian(url("F").utf8.count, 2) + Array(url("F").utf8)
                let binary = BinaryList.bytes(of: [[0xA1, 1], string])
                try write(binary, to: world.agent.lists.appending("binary.plist"))
                try world.agent.drop(
                    """
                    ( { name = "At Home"; catalogs = (testing); icon_hash = \(hash); },
                      { name = Maps; icon_name = "Maps.png"; icon_hash = \(hash); } )
                    """, as: "catalog.plist")
                try world.agent.drop("{ name = Mail; icon_name = Mail; }", as: "pkginfo.plist")
                let asset = "{ kind = \"display-image\"; url = \"\(url("G"))\"; }"
                try world.agent.drop(
                    "{ items = ( { assets = (\(asset)); metadata = { title = G; }; } ); }", as: "manifest.plist")
                try await world.published(["A", "B"], as: "strings.plist")
                try await world.published(["C"], as: "nested.plist")
                try await world.published(["D", "E"], as: "names.plist")
                try await world.published(["F"], as: "binary.plist")
                try await world.published(["At Home"], as: "catalog.plist")
                try await world.published(["Mail"], as: "pkginfo.plist")
                try await world.published(["G"], as: "manifest.plist")
            }
            let document = try #require(try IconCache(at: world.agent.cache).document(of: "catalog.plist"))
            #expect(document.apps[1].state == .failed(error: "digest-mismatch"))
            #expect(try files(in: world.agent.cache.appending("staging")).isEmpty)
            let why = try await world.agent.call("why", url("Maps"))
            expectContains(why.output, "digest-mismatch: the image does not have the digest")
        }
    }

    @Test("icons of a Munki catalog that _icon_hashes.plist does not name are not requested")
    func iconHashes() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_LISTS_ICON_BASE_URL", world.origin.baseURL + "/icons")
            @Sendable func hashes(_ names: [String]) -> String {
                "{ " + names.map { "\"\($0).png\" = \(Digest.of($0)); " }.joined() + "}"
            }
            try world.agent.drop(hashes(["At Home", "Mail"]), as: "_icon_hashes.plist")
            let items = ["At Home", "Mail", "Maps"].map { "{ name = \"\($0)\"; catalogs = (testing); }" }
            try world.agent.drop("( \(items.joined(separator: ", ")) )", as: "catalog.plist")
            try await world.agent.whileRunning { _ in
                try await world.published(["At Home", "Mail"], as: "catalog.plist")
                let why = try await world.agent.call("why", world.origin.iconURL("Maps"))
                expectContains(why.output, "not-in-repository: no _icon_hashes.plist in the lists folder names it")
                #expect(world.origin.requestCount(for: "/icons/Maps.png") == 0)
                #expect(try IconCache(at: world.agent.cache).manifest().lists.keys.sorted() == ["catalog.plist"])
                let file = world.agent.lists.appending("_icon_hashes.plist").string
                let check = try await world.agent.call("check", file)
                expectContains(check.output, "acceptable, names 2 images of lists.iconBaseURL")
                let list = try await world.agent.call("list", "_icon_hashes.plist")
                expectContains(list.messages, "has no apps: it names 2 images of lists.iconBaseURL")
                #expect(try await world.agent.call("sync", "--wait", "catalog.plist").code == 1)

                try world.agent.drop(hashes(["At Home", "Mail", "Maps"]), as: "_icon_hashes.plist")
                try await world.published(["At Home", "Mail", "Maps"], as: "catalog.plist")
                #expect(try await world.agent.call("sync", "--wait").code == 0)
            }
        }
    }

    @Test("an icon that is no image, too large, missing or refused fails with its code, and the others are published")
    func failures() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_FETCH_MAX_BYTES", "10KiB")
            let origin = world.origin
            origin.respond(to: "/page.png", with: OriginReply(body: Array("<!DOCTYPE html><html></html>".utf8)))
            origin.respond(to: "/gone.png", with: OriginReply(status: 404))
            origin.respond(
                to: "/trap.png", with: OriginReply(status: 302, headers: [("Location", "http://h.example:65536/")]))
            let icons = [
                ("Good", origin.iconURL("Good"), "ready"),
                ("Page", origin.baseURL + "/page.png", "not-an-image"),
                ("Gone", origin.baseURL + "/gone.png", "http-404"),
                ("Large", origin.iconURL("Large", bytes: 12288), "too-large"),
                ("Port", "http://h.example:65536/a.png", "port-refused"),
                ("Redirect", origin.baseURL + "/trap.png", "port-refused"),
                ("Socket", "http+unix://%2Ftmp%2Fa/b.png", "scheme-refused"),
                ("Private", "http://10.0.0.1/a.png", "address-refused"),
            ]
            try await world.agent.whileRunning { _ in
                try world.agent.drop(propertyList(icons.map { ($0.0, $0.1) }), as: "apps.plist")
                try await world.agent.status { $0.inSync && $0.icons.failed == 7 && $0.icons.ready == 1 }
                let document = try #require(try IconCache(at: world.agent.cache).document(of: "apps.plist"))
                for (app, icon) in zip(document.apps, icons) {
                    switch app.state {
                    case .ready: #expect(icon.2 == "ready", "\(icon.0)")
                    case .failed(let code): #expect(code == icon.2, "\(icon.0)")
                    case .pending: Issue.record("\(icon.0) is pending")
                    }
                }
                #expect(try files(in: world.agent.cache.appending("staging")).isEmpty)
            }
        }
    }
}
