// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import Glibc
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Ways of saving a list", .serialized)
struct SavePatternTests {
    /// How often the folder is looked at where the kernel tells nothing.
    private static let rescan = Duration.seconds(1)

    /// How long each pattern took to take effect in a place; those that cannot be tried there are missing.
    private typealias Column = [String: Duration]

    @Test("each takes effect within a second, or within one look at the folder where the kernel tells nothing")
    func patterns() async throws {
        let columns = try await withThrowingTaskGroup { group in
            for place in Place.allCases { group.addTask { (place, try await times(in: place)) } }
            let columns = try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            return Place.allCases.compactMap { place in columns[place].map { (place, $0) } }
        }
        print(Self.table(columns))
        for (place, column) in columns {
            for pattern in SavePattern.all {
                guard let time = column[pattern.name] else { continue }
                // A list that vanished may be back in half a second.
                let quiet: Duration = pattern.effect == .changed ? .zero : .milliseconds(500)
                let limit = (pattern.isSilent ? Self.rescan : .zero) + quiet + .seconds(1)
                #expect(time < limit, "\(pattern.name) in \(place.rawValue)")
            }
        }
    }

    private func times(in place: Place) async throws -> Column? {
        try await World.with { world in
            try await place.made(in: world.folder) { path in
                for name in ["lists.d", "side"] { try makeFolder(path.appending(name)) }
                try #require(rmdir(world.agent.lists.string) == 0)
                try #require(symlink(path.appending("lists.d").string, world.agent.lists.string) == 0)
                let loud = SavePattern.all.filter { !$0.isSilent }
                let silent = SavePattern.all.filter(\.isSilent)
                var column = try await world.setting("SYNCAGENT_LISTS_RESCAN", "1h").times(of: loud, in: path)
                let rescan = "\(Self.rescan.components.seconds)s"
                column.merge(try await world.setting("SYNCAGENT_LISTS_RESCAN", rescan).times(of: silent, in: path)) {
                    $1
                }
                return column
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
