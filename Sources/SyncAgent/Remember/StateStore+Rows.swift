// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import SyncPlan

extension StateStore {
    /// Stores changes, all of them or none.
    func write(_ changes: MemoChanges) throws {
        try database.transaction {
            try StoredIcons.store(changes, in: database)
            try StoredOrigins.store(changes, in: database)
            try StoredLists.store(changes, in: database)
            try StoredRejections.store(changes, in: database)
            try StoredGenerations.store(changes, in: database, clock: clock)
            if let values = changes.values {
                try StoredValue.store(values, in: database, clock: clock)
                try StoredUpstreams.store(values.upstreams, in: database)
            }
        }
    }
}

extension Remembered {
    /// Reads what was stored.
    ///
    /// - Throws: ``StoredRow/Unbelievable`` if no agent can have written what is there.
    init(_ database: Database, clock: AgentClock) throws {
        self.init()
        icons = try StoredIcons.load(from: database)
        origins = try StoredOrigins.load(from: database)
        lists = try StoredLists.load(from: database)
        rejections = try StoredRejections.load(from: database)
        superseded = try StoredGenerations.load(from: database, clock: clock)
        values = try StoredValue.load(from: database, clock: clock)
        values.upstreams = try StoredUpstreams.load(from: database)
    }
}

extension Timestamp {
    var milliseconds: Int64 { sinceEpoch.milliseconds }
}
