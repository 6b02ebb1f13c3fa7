// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
import IconCache
import Subprocess
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

/// Lists that are cut short, or have a wrong byte, where they lie.
///
/// `LIST_DAMAGES` in the environment is how often.
@Suite("Damage to lists in place", .timeLimit(.minutes(15)))
struct DamagedListTests {
    private static let damages = environmentNumber("LIST_DAMAGES") ?? 64

    @Test("a list that is cut short or damaged in place is never published in part, and the agent goes on")
    func damages() async throws {
        try await World.with { plain in
            let world = plain.setting("SYNCAGENT_LISTS_SETTLE", "1ms")
            try await world.agent.whileRunning { agent in
                // Wrong bytes make wrong addresses.
                #expect(try await world.agent.call("pause").code == 0)
                var whole: Set<Digest> = []
                var published: Set<Digest> = []
                for round in 0..<(Self.damages + 7) / 8 {
                    for number in 0..<8 {
                        var bytes = try Self.list(round + number, world)
                        if Bool.random() || round == 0 {
                            if round > 0 { bytes[Int.random(in: bytes.indices)] ^= 1 << UInt8.random(in: 0..<8) }
                            whole.insert(Digest.of(bytes))
                        } else {
                            bytes.removeLast(Int.random(in: (Self.tail + 1)..<bytes.count))
                        }
                        try Self.rewrite(world.agent.lists.appending("\(number).plist"), bytes)
                    }
                    _ = try await world.agent.call("sync", "--wait")
                    let cache = IconCache(at: world.agent.cache)
                    for name in try cache.manifest().lists.keys {
                        let source = try #require(try cache.document(of: name)).source.sha256
                        #expect(whole.contains(source), "\(name)")
                        published.insert(source)
                    }
                }
                #expect(kill(agent.value, 0) == 0)
                print("\(Self.damages) damages: \(published.count) of \(whole.count) whole versions were published")
            }
        }
    }

    /// How much of the end of a list may be missing without anything missing in it: `</array></plist>` and blanks.
    private static let tail = 20

    /// A list in one of three formats.
    private static func list(_ number: Int, _ world: World) throws -> [UInt8] {
        let names = (0...number % 7).map { "icon-\($0)" }
        let urls = names.map { world.origin.iconURL($0) }
        switch number % 3 {
        case 0: return Array(propertyList(Array(zip(names, urls)).map { ($0, $1) }).utf8)
        case 1:
            let encoder = PropertyListEncoder()
            encoder.outputFormat = .binary
            return Array(try encoder.encode(urls))
        default:
            return Array(
                "( \(urls.map { "\"\($0)\"" }.joined(separator: ",\n")) )\(String(repeating: " ", count: tail))".utf8)
        }
    }

    /// Writes a file in two pieces, where it lies.
    private static func rewrite(_ path: FilePath, _ bytes: [UInt8]) throws {
        let file = try FileDescriptor.open(
            path, .writeOnly, options: [.create, .truncate, .closeOnExec], permissions: .ownerReadWrite)
        try file.closeAfter {
            _ = try file.writeAll(bytes.prefix(bytes.count / 2))
            _ = try file.writeAll(bytes.dropFirst(bytes.count / 2))
        }
    }
}
