// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import DemoOrigin
import Glibc
import IconCache
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("What people do with lists", .serialized)
struct ListTests {
    @Test("a dropped list's icons are on disk, and path tells where")
    func drop() async throws {
        try await World.with { world in
            try await world.agent.whileRunning { _ in
                try world.drop(["Mail", "Maps"])
                try await world.published(["Mail", "Maps"])
                #expect(try world.expectWholeCache() == 2)
                let answer = try await world.agent.call("path", world.origin.iconURL("Mail"))
                #expect(answer.code == 0)
                let path = FilePath(String(answer.output.dropLast()))
                #expect(try FileBytes.read(path) == IconDrawing("Mail").png())
                #expect(path.isAbsolute && path.extension == "png")
            }
        }
    }

    @Test("a changed list fetches what is new, and what is retired goes after the grace")
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

    @Test("within the grace a retired icon stays, and naming it again downloads nothing")
    func retired() async throws {
        try await World.with { world in
            try await world.agent.whileRunning { _ in
                try world.drop(["Mail", "Maps"])
                try await world.published(["Mail", "Maps"])
                try world.drop(["Maps"])
                try await world.published(["Maps"])
                try await world.agent.status { $0.icons.retired == 1 && $0.cache.images == 2 }
                try world.drop(["Mail", "Maps"])
                try await world.published(["Mail", "Maps"])
                #expect(world.origin.requestCount == 2)
            }
        }
    }

    @Test("a renamed list keeps its icons, a removed one is gone from the manifest")
    func renameAndRemove() async throws {
        try await World.with { world in
            try await world.agent.whileRunning { _ in
                try world.drop(["Mail"], as: "a.plist")
                try world.drop(["Maps"], as: "b.plist")
                try await world.published(["Maps"], as: "b.plist")
                try await world.published(["Mail"], as: "a.plist")
                let lists = world.agent.lists
                try #require(rename(lists.appending("a.plist").string, lists.appending("c.plist").string) == 0)
                try await world.published(["Mail"], as: "c.plist")
                try world.remove("b.plist")
                try await world.agent.status { $0.inSync && $0.lists.map(\.name) == ["c.plist"] }
                let manifest = try IconCache(at: world.agent.cache).manifest()
                #expect(manifest.lists.keys.sorted() == ["c.plist"])
                #expect(world.origin.requestCount == 2)
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
                #expect(status.output.contains("last-good") && status.output.contains("rejected"))
            }
            let stopped = try await world.agent.call("status", "--json")
            #expect(stopped.code == 3)
            #expect(stopped.output.contains("\"last-good\"") && stopped.output.contains("\"rejected\""))
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.lists.map(\.state) == ["last-good", "rejected"] }
                #expect(try world.expectWholeCache() == 1)
                try world.drop(["Mail", "Maps"])
                try await world.published(["Mail", "Maps"])
            }
            #expect(world.origin.requestCount == 2)
        }
    }

    @Test("binary and OpenStep lists, arrays of strings and dictionaries of URLs are read")
    func shapes() async throws {
        try await World.with { world in
            let url = { @Sendable in world.origin.iconURL($0) }
            try await world.agent.whileRunning { _ in
                try world.agent.drop("( \"\(url("A"))\", \"\(url("B"))\" )", as: "strings.plist")
                try world.agent.drop("{ apps = ( { name = C; icon = \"\(url("C"))\"; } ); }", as: "nested.plist")
                try world.agent.drop("{ D = \"\(url("D"))\"; E = \"\(url("E"))\"; }", as: "names.plist")
                try await world.published(["A", "B"], as: "strings.plist")
                try await world.published(["C"], as: "nested.plist")
                try await world.published(["D", "E"], as: "names.plist")
            }
        }
    }

    @Test("Munki catalogs are read, the digests in them are held against the images, and install manifests are read")
    func otherShapes() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_LISTS_ICON_BASE_URL", world.origin.baseURL + "/icons")
            let hash = Digest.of(IconDrawing("At Home").png())
            try await world.agent.whileRunning { _ in
                try world.agent.drop(
                    """
                    ( { name = "At Home"; catalogs = (testing); icon_hash = \(hash); },
                      { name = Maps; icon_name = "Maps.png"; icon_hash = \(hash); } )
                    """, as: "catalog.plist")
                try world.agent.drop("{ name = Mail; icon_name = Mail; }", as: "pkginfo.plist")
                let asset = "{ kind = \"display-image\"; url = \"\(world.origin.iconURL("A"))\"; }"
                try world.agent.drop(
                    "{ items = ( { assets = (\(asset)); metadata = { title = A; }; } ); }", as: "manifest.plist")
                try await world.published(["At Home"], as: "catalog.plist")
                try await world.published(["Mail"], as: "pkginfo.plist")
                try await world.published(["A"], as: "manifest.plist")
            }
            let document = try #require(try IconCache(at: world.agent.cache).document(of: "catalog.plist"))
            #expect(document.apps[1].state == .failed(error: "digest-mismatch"))
            #expect(try files(in: world.agent.cache.appending("staging")).isEmpty)
            let why = try await world.agent.call("why", world.origin.iconURL("Maps"))
            #expect(why.output.contains("digest-mismatch: the image does not have the digest"))
        }
    }

    @Test("icons that _icon_hashes.plist does not name are not requested")
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
                #expect(why.output.contains("not-in-repository: no _icon_hashes.plist in the lists folder names it"))
                #expect(world.origin.requestCount(for: "/icons/Maps.png") == 0)
                #expect(try IconCache(at: world.agent.cache).manifest().lists.keys.sorted() == ["catalog.plist"])
                let file = world.agent.lists.appending("_icon_hashes.plist").string
                let check = try await world.agent.call("check", file)
                #expect(check.output.contains("acceptable, names 2 images of lists.iconBaseURL"))
                let list = try await world.agent.call("list", "_icon_hashes.plist")
                #expect(list.messages.contains("has no apps: it names 2 images of lists.iconBaseURL"))
                #expect(try await world.agent.call("sync", "--wait", "catalog.plist").code == 1)

                try world.agent.drop(hashes(["At Home", "Mail", "Maps"]), as: "_icon_hashes.plist")
                try await world.published(["At Home", "Mail", "Maps"], as: "catalog.plist")
                #expect(try await world.agent.call("sync", "--wait").code == 0)
            }
        }
    }

    @Test("what is no image, too large, missing or refused has its code, and the rest of the list counts")
    func failures() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_FETCH_MAX_BYTES", "10KiB")
            let origin = world.origin
            origin.respond(to: "/page.png", with: OriginReply(body: Array("<!DOCTYPE html><html></html>".utf8)))
            origin.respond(to: "/gone.png", with: OriginReply(status: 404))
            origin.respond(
                to: "/trap.png", with: OriginReply(status: 302, headers: [("Location", "http://127.0.0.1:65536/")]))
            let icons = [
                ("Good", origin.iconURL("Good"), "ready"),
                ("Page", origin.baseURL + "/page.png", "not-an-image"),
                ("Gone", origin.baseURL + "/gone.png", "http-404"),
                ("Large", origin.iconURL("Large", bytes: 12288), "too-large"),
                ("Port", "http://127.0.0.1:65536/a.png", "port-refused"),
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
                    case .ready: #expect(icon.2 == "ready")
                    case .failed(let code): #expect(code == icon.2)
                    case .pending: Issue.record("\(icon.0) is pending")
                    }
                }
                #expect(try files(in: world.agent.cache.appending("staging")).isEmpty)
            }
        }
    }
}
