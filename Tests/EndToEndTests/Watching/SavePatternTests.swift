// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import Glibc
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Ways to save a list", .timeLimit(.minutes(15)), .serialized)
struct SavePatternTests {
    /// How often the folder is looked at where the kernel tells nothing.
    private static let rescan = Duration.seconds(1)

    /// How long each pattern took to take effect in a place; those that cannot be tried there are missing.
    private typealias Column = [String: Duration]

    @Test("every way to save a list takes effect at once, or by the next rescan where the kernel tells nothing")
    func patterns() async throws {
        let columns = try await withThrowingTaskGroup { group in
            for place in Place.allCases { group.addTask { (place, try await times(in: place)) } }
            let columns = try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            return Place.allCases.compactMap { place in columns[place].map { (place, $0) } }
        }
        print(Self.table(columns))
    }

    private func times(in place: Place) async throws -> Column? {
        try await World.with { world in
            try await place.made(in: world.folder) { path in
                for name in ["lists.d", "side"] { try makeFolder(path.appending(name)) }
                try #require(rmdir(world.agent.lists.string) == 0)
                try #require(symlink(path.appending("lists.d").string, world.agent.lists.string) == 0)
                let patterns = SavePattern.all.filter { $0.isTypical || place.hasAllPatterns }
                let loud = patterns.filter { !$0.isSilent }
                let silent = patterns.filter(\.isSilent)
                let quick = world.setting("SYNCAGENT_LISTS_SETTLE", "10ms")
                // No rescan comes in time: only the watcher, or polling, finds these.
                let column = try await quick.setting("SYNCAGENT_LISTS_RESCAN", "1h")
                    .times(of: loud, in: place, at: path)
                let rescan = "\(Self.rescan.components.seconds)s"
                let later = try await quick.setting("SYNCAGENT_LISTS_RESCAN", rescan)
                    .times(of: silent, in: place, at: path)
                return column.merging(later) { $1 }
            }
        }
    }

    private static func table(_ columns: [(Place, Column)]) -> String {
        func row(_ name: String, _ cells: [String]) -> String {
            ([name.padded(to: 28)] + cells.map { $0.padded(to: 11) }).joined()
        }
        let rows = SavePattern.all.map { pattern in
            row(
                pattern.name + (pattern.isSilent ? " *" : ""),
                columns.map { $0.1[pattern.name].map { DurationText.format(.milliseconds($0.milliseconds)) } ?? "–" })
        }
        return
            ([row("until a save takes effect", columns.map(\.0.rawValue))] + rows
            + ["* the kernel tells nothing: within one look, every \(rescan.components.seconds) s"])
            .joined(separator: "\n")
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(width - count, 1))
    }
}
