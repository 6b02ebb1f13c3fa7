// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import SyncPlan

extension StateStore {
    /// Stores all changes, or none of them if that fails.
    func write(_ changes: MemoChanges) throws {
        let rows = MemoRows(database)
        try database.transaction {
            // Rows are written in the order of the table, so that each page is read and changed once. Memos are large,
            // so their indices are sorted instead, which takes a tenth of the time.
            let memos = changes.remembered
            for place in memos.indices.sorted(by: { memos[$0].url < memos[$1].url }) {
                try rows.put(.icon, memos[place].url.text, memos[place].json)
            }
            for url in changes.forgotten { try rows.delete(.icon, url.text) }
            for memo in changes.origins { try rows.put(.origin, memo.origin, memo) }
            for origin in changes.forgottenOrigins { try rows.delete(.origin, origin) }
            for memo in changes.lists { try rows.put(.list, memo.list.text, memo) }
            for list in changes.forgottenLists { try rows.delete(.list, list.text) }
            for memo in changes.rejections { try rows.put(.rejection, memo.list.text, memo) }
            for list in changes.forgottenRejections { try rows.delete(.rejection, list.text) }
            for memo in changes.renderFailures { try rows.put(.render, memo.image.hex, memo) }
            for image in changes.forgottenRenderFailures { try rows.delete(.render, image.hex) }
            for (generation, time) in changes.superseded {
                try rows.put(.superseded, "\(generation)", StoredAge(of: time, clock: clock))
            }
            for generation in changes.released { try rows.delete(.superseded, "\(generation)") }
            if let values = changes.values { try rows.put(.values, "", StoredValues(values, clock: clock)) }
        }
    }
}

extension Remembered {
    /// Reads the stored state.
    ///
    /// - Throws: ``MemoRows/InvalidRow`` if no agent can have written a row.
    init(_ database: Database, clock: AgentClock) throws {
        self.init()
        try MemoRows(database).forEach { kind, key, json in
            switch kind {
            case .icon:
                // No agent stores as much of an icon.
                guard json.count <= 1 << 20, let memo = IconMemo(url: IconURL(key), json: json) else {
                    throw MemoRows.InvalidRow(kind: kind)
                }
                icons.append(memo)
            case .origin: origins.append(try MemoRows.decode(kind, json))
            case .list: lists.append(try MemoRows.decode(kind, json))
            case .rejection: rejections.append(try MemoRows.decode(kind, json))
            case .render: renderFailures.append(try MemoRows.decode(kind, json))
            case .superseded:
                let age: StoredAge = try MemoRows.decode(kind, json)
                guard let generation = Int(key), CacheLayout.generationNumbers.contains(generation) else {
                    throw MemoRows.InvalidRow(kind: kind)
                }
                superseded[generation] = age.time(by: clock)
            case .values:
                let stored: StoredValues = try MemoRows.decode(kind, json)
                values = stored.values(by: clock)
            }
        }
    }
}
