// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("A database of another version")
struct StateVersionTests {
    /// Makes the database of a paused agent, and runs these statements on it.
    private static func write(_ statements: String..., to folder: FilePath) async throws {
        var changes = MemoChanges()
        changes.values = RememberedValues(isPaused: true)
        let store = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
        try await store.apply(changes)
        try await store.close()
        let database = try Database(folder.appending(StateStore.files[0]))
        for statement in statements { try database.execute(statement) }
        try database.close()
    }

    @Test("a state database from before 1.0 is set aside, and a new one begun", arguments: [-1, 1, 4])
    func earlier(version: Int) async throws {
        try await withTemporaryFolder { folder in
            try await Self.write("DROP TABLE memos", "PRAGMA user_version = \(version)", to: folder)
            let store = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            #expect(store.lossAtStart == .damaged && store.remembered.values == RememberedValues())
            #expect(store.damagedFile == folder.appending("state.sqlite.damaged"))
            try await store.close()
            let again = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            #expect(again.lossAtStart == nil)
            try await again.close()
        }
    }

    @Test("a state database of version 5 has the same table, and is taken over")
    func fifth() async throws {
        try await withTemporaryFolder { folder in
            try await Self.write("PRAGMA user_version = 5", to: folder)
            let store = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            #expect(store.lossAtStart == nil && store.remembered.values.isPaused)
            try await store.close()
            let upgraded = try Database(folder.appending(StateStore.files[0]))
            #expect(try StateStore.version(of: upgraded) == StateStore.version)
            try upgraded.close()
        }
    }

    @Test("a state database of a later version is read as far as it is known", arguments: [0, 1])
    func later(ahead: Int) async throws {
        try await withTemporaryFolder { folder in
            try await Self.write(
                "INSERT INTO memos VALUES ('unknown', '', '')",
                "PRAGMA user_version = \(StateStore.version + ahead)",
                "UPDATE memos SET json = json_set(json, '$.values.unknown', 1) WHERE kind = 'values'",
                "INSERT INTO memos VALUES ('icon', 'u', '[ null, 7, null, null, null, [ 1 ] ]')",
                to: folder)
            let store = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            #expect(store.lossAtStart == (ahead == 0 ? .damaged : nil))
            #expect(store.remembered.values.isPaused == (ahead == 1))
            #expect(store.remembered.icons.map(\.url) == (ahead == 1 ? ["u"] : []))
        }
    }
}
