// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import Subprocess
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Cache mode", .timeLimit(.minutes(15)))
struct CacheModeTests {
    private static let setpriv = "/usr/bin/setpriv"
    private static let canBeOthers = geteuid() == 0 && access(setpriv, X_OK) == 0
    /// The user and group `nobody`, to whom nothing belongs.
    private static let nobody: UInt32 = 65_534

    @Test(
        "with cache.mode 0755 everybody may read the cache; with 0750 only its group may, earlier files included; and back",
        .enabled(if: canBeOthers, "only root can be somebody else, by \(setpriv) of util-linux"))
    func mode() async throws {
        try await World.with { world in
            var entry = stat()
            // Others must get as far as the cache's own folder.
            try #require(chmod(world.agent.cache.removingLastComponent().string, 0o755) == 0)
            try world.drop(["Mail"], as: "first.plist")
            #expect(try await world.agent.call("run", "--once").code == 0)
            try #require(stat(world.agent.cache.string, &entry) == 0)
            let group = entry.st_gid
            #expect(try await readers(of: "manifest.json", world, group) == ["nobody", "group"])
            #expect(try await readers(of: Self.image("Mail", world), world, group) == ["nobody", "group"])

            let closed = world.setting("SYNCAGENT_CACHE_MODE", "0750")
            try closed.drop(["Maps"], as: "second.plist")
            #expect(try await closed.agent.call("run", "--once").code == 0)
            let manifest = try IconCache(at: world.agent.cache).manifest()
            let document = try #require(manifest.lists["second.plist"]).document
            for path in ["manifest.json", document, Self.image("Mail", world), Self.image("Maps", world)] {
                #expect(try await readers(of: path, world, group) == ["group"], "\(path)")
            }
            #expect(try await world.agent.call("run", "--once").code == 0)
            for path in ["manifest.json", document, Self.image("Mail", world), Self.image("Maps", world)] {
                #expect(try await readers(of: path, world, group) == ["nobody", "group"], "\(path)")
            }
        }
    }

    private static func image(_ name: String, _ world: World) -> String {
        CacheLayout.byURL(IconURL(world.origin.iconURL(name)))
    }

    /// Who can read a file of the cache: a stranger, and one of its group.
    private func readers(of path: String, _ world: World, _ group: UInt32) async throws -> [String] {
        let file = world.agent.cache.pushing(FilePath(path)).string
        var readers: [String] = []
        for (name, group) in [("nobody", Self.nobody), ("group", group)] {
            let result = try await Subprocess.run(
                .path(FilePath(Self.setpriv)),
                arguments: ["--reuid=\(Self.nobody)", "--regid=\(group)", "--clear-groups", "cat", file],
                output: .bytes(limit: 1 << 20), error: .string(limit: 1 << 16))
            if result.terminationStatus == .exited(0) {
                #expect(result.standardOutput == (try FileBytes.read(FilePath(file))))
                readers.append(name)
            } else {
                #expect(result.standardError.contains("Permission denied"), "\(result.standardError)")
            }
        }
        return readers
    }
}
