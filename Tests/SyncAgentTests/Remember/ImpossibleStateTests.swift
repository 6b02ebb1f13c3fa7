// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("State databases that no agent can have written")
struct ImpossibleStateTests {
    @Test(
        "a database with an impossible row is set aside, and nothing of it is used",
        arguments: [
            "UPDATE memos SET json = json_set(json, '$.holdAge.elapsed', 9223372036854775807) WHERE kind = 'values'",
            "UPDATE memos SET json = json_set(json, '$.holdAge.awake', -9223372036854775808) WHERE kind = 'values'",
            "UPDATE memos SET json = json_set(json, '$.values.hold.images', 'many') WHERE kind = 'values'",
            "UPDATE memos SET json = json_set(json, '$.values.purged', -1) WHERE kind = 'values'",
            "UPDATE memos SET json = json_set(json, '$.elapsed', -1) WHERE kind = 'superseded'",
            "UPDATE memos SET key = '9223372036854775807' WHERE kind = 'superseded'",
            "UPDATE memos SET json = replace(json, ', 1', ', -1') WHERE kind = 'icon'",
            "UPDATE memos SET json = replace(json, '[ \"', '[ \"nothing') WHERE kind = 'icon'",
            "UPDATE memos SET json = '' WHERE kind = 'icon'",
            "INSERT INTO memos VALUES ('list', 'a', json_object('list', 'a', 'sha256', 'nothing', 'rules', ''))",
            "UPDATE memos SET kind = 'nothing' WHERE kind = 'values'",
        ])
    func setAside(sql: String) async throws {
        try await withTemporaryFolder { folder in
            let clock = AgentClock()
            let response = StoredResponse(
                fields: HTTPFields([("ETag", "\"x\"")]), requestTime: clock.now, responseTime: clock.now)
            var changes = MemoChanges(remembered: [
                IconMemo(
                    url: "https://example.com/a.png", image: .of("a"), packedResponse: PackedResponse(response),
                    freshUntil: clock.now + .seconds(100), failure: nil)
            ])
            changes.superseded = [1: clock.now]
            changes.values = RememberedValues(
                holds: [EvictionBrake.Hold(since: clock.now, generation: 1, images: 30, total: 30)])
            let whole = try StateStore(folder: folder, clock: clock, logger: .silent)
            try await whole.apply(changes)
            try await whole.close()
            let database = try Database(folder.appending(StateStore.files[0]))
            try database.execute(sql)
            try database.close()

            let store = try StateStore(folder: folder, clock: clock, logger: .silent)
            #expect(store.lossAtStart == .damaged)
            #expect(store.damagedFile == folder.appending("state.sqlite.damaged"))
            #expect(store.remembered.icons.isEmpty && store.remembered.values.hold == nil)
        }
    }
}
