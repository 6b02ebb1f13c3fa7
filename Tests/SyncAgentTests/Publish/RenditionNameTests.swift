// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("Names of renditions")
struct RenditionNameTests {
    private static let mail: IconURL = "https://a.example/mail.png"
    private static let maps: IconURL = "https://a.example/maps.png"
    private static let sizes = ["48", "64@2"].compactMap { RenditionSize($0) }

    /// The names of a URL and of an app, where each size has the image with these bytes.
    private static func naming(
        _ names: [RenditionSubject: [String]], keepsOthers: Bool = false, isComplete: Bool = false,
        removed: Set<RenditionSubject> = []
    ) -> RenditionNaming {
        var naming = RenditionNaming()
        (naming.sizes, naming.removed) = (sizes, removed)
        if isComplete { naming.all = Set(names.keys) }
        naming.names = names.mapValues { texts in
            let paths = zip(sizes, texts).map { ($0, CacheFixture.image($1).path) }
            return .init(paths: Dictionary(paths) { first, _ in first }, keepsOthers: keepsOthers)
        }
        return naming
    }

    private static func paths(_ fixture: CacheFixture) throws -> Set<String> {
        Set(try files(below: fixture.path).filter { $0.starts(with: "by-size/") || $0.starts(with: "share/") })
    }

    private static func files(below folder: FilePath, _ prefix: String = "") throws -> [String] {
        try CacheFolder(folder).names(in: ".").flatMap { name, _ -> [String] in
            let path = folder.appending(name)
            guard (try? FileDescriptor.open(path, .readOnly, options: .directory).close()) != nil else {
                return [prefix + name]
            }
            return try files(below: path, "\(prefix)\(name)/")
        }
    }

    private static func path(_ url: IconURL, _ size: Int) -> String {
        CacheLayout.bySize(sizes[size], .of(url.text))
    }

    private static let themed = [
        "share/icons/hicolor/48x48/apps/Mail.png", "share/icons/hicolor/64x64@2/apps/Mail.png",
    ]

    @Test("names of renditions are set, changed, kept and removed, with empty folders")
    func life() async throws {
        try await withTemporaryFolder { folder in
            let fixture = try CacheFixture(folder)
            let publisher = fixture.publisher
            try await fixture.publish(1, [Self.mail: "one", Self.maps: "two", "https://a.example/3": "three"])
            let both = Self.naming(
                [.icon(Self.mail): ["one", "two"], .app("Mail"): ["one", "two"]], isComplete: true)
            #expect(await publisher.setNames(both) == nil)
            let names = Set([Self.path(Self.mail, 0), Self.path(Self.mail, 1)] + Self.themed)
            #expect(try Self.paths(fixture) == names)
            #expect(try fixture.folder.read(Self.path(Self.mail, 1)) == Array("two".utf8))
            #expect(try fixture.folder.read(Self.themed[0]) == Array("one".utf8))

            // Another image has one size so far: the other name stays, and goes if there is not to be one.
            for (keeps, rest) in [(true, 2), (false, 1)] {
                let changed = Self.naming([.icon(Self.mail): ["three"]], keepsOthers: keeps)
                #expect(await publisher.setNames(changed) == nil)
                #expect(try fixture.folder.read(Self.path(Self.mail, 0)) == Array("three".utf8))
                #expect(try Self.paths(fixture).filter { $0.starts(with: "by-size") }.count == rest)
            }
            #expect(await publisher.setNames(Self.naming([:], removed: [.icon(Self.mail), .app("Mail")])) == nil)
            #expect(try Self.paths(fixture) == [])
            #expect(await publisher.setNames(Self.naming([:], isComplete: true)) == nil)
            #expect(try fixture.folder.status("by-size") == nil)
            #expect(try fixture.folder.status("share") == nil)
        }
    }

    @Test("foreign files among the names of renditions are removed, and changes of the theme undone")
    func others() async throws {
        try await withTemporaryFolder { folder in
            let fixture = try CacheFixture(folder)
            try await fixture.publish(1, [Self.mail: "one", Self.maps: "two"])
            let all: [RenditionSubject: [String]] = [.icon(Self.mail): ["one", "two"], .app("Mail"): ["one", "two"]]
            #expect(await fixture.publisher.setNames(Self.naming(all)) == nil)
            let names = try Self.paths(fixture)
            let image = CacheFixture.image("one").path
            try fixture.folder.makeFolder("by-size/96", mode: .ownerReadWriteExecute)
            try fixture.folder.makeFolder("by-size/96/ab", mode: .ownerReadWriteExecute)
            for name in [
                "by-size/96/ab/\(Digest.of(Self.mail.text).hex)", "by-size/48/x",
                Self.path(Self.mail, 0) + "x", "share/icons/hicolor/48x48/apps/Old.png",
                "share/icons/hicolor/icon-theme.cache",
            ] {
                try fixture.folder.link(image, to: name)
            }
            // A name that leads elsewhere, and one that a folder took.
            try fixture.folder.discard(Self.path(Self.mail, 1))
            try fixture.folder.link(image, to: Self.path(Self.mail, 1))
            #expect(await fixture.publisher.setNames(Self.naming(all, isComplete: true)) == nil)
            #expect(try Self.paths(fixture).subtracting(names).allSatisfy { $0 == "by-size/48/x" })
            #expect(try Self.paths(fixture).isSuperset(of: names))
            #expect(try fixture.folder.read(Self.path(Self.mail, 1)) == Array("two".utf8))
        }
    }

    @Test("a link in place of a folder of renditions is not followed, and is reported")
    func link() async throws {
        try await withTemporaryFolder { folder in
            let (cache, elsewhere) = (folder.appending("cache"), folder.appending("elsewhere"))
            try makeFolder(cache)
            try makeFolder(elsewhere)
            let fixture = try CacheFixture(cache)
            try await fixture.publish(1, [Self.mail: "one"])
            #expect(try await Program.run("ln", "-s", elsewhere.string, cache.appending("by-size").string).code == 0)
            let trouble = await fixture.publisher.setNames(Self.naming([.icon(Self.mail): ["one"]]))
            #expect(trouble?.contains("the names of renditions cannot be set") == true, "\(trouble ?? "nothing")")
            #expect(try CacheFolder(elsewhere).names(in: ".").isEmpty)
        }
    }
}
