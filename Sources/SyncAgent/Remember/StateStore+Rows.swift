// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import SyncPlan

extension StateStore {
    /// Stores all changes, or none of them if that fails.
    func write(_ changes: MemoChanges) throws {
        let rows = MemoRows(database: database)
        try database.transaction {
            // Rows are written in the order of the table, so that each page is read and changed once. Memos are large,
            // so their indices are sorted instead, which takes a tenth of the time.
            let memos = changes.remembered
            for place in memos.indices.sorted(by: { memos[$0].url < memos[$1].url }) {
                try rows.put(.icon, memos[place].url.text, memos[place].json)
            }
            for url in changes.forgotten { try rows.delete(.icon, url.text) }
            for (origin, memo) in changes.origins { try rows.put(.origin, origin, memo) }
            for (list, memo) in changes.lists { try rows.put(.list, list.text, memo) }
            for (list, memo) in changes.rejections { try rows.put(.rejection, list.text, memo) }
            for (image, memo) in changes.renderFailures { try rows.put(.render, image.hex, memo) }
            for (generation, time) in changes.superseded {
                try rows.put(.superseded, "\(generation)", time.map { StoredAge(of: $0, clock: clock) })
            }
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
        try MemoRows(database: database).forEach { kind, key, json in
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
