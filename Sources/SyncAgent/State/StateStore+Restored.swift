// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import GRDB
package import IconCache
package import SyncPlan

extension StateStore {
    /// What an earlier run left.
    package struct Restored: Sendable {
        package var icons: [IconMemo] = []
        package var origins: [OriginMemo] = []
        package var isPaused = false
        /// When generations were superseded, by the clock of this run.
        package var supersessions: [Int: Timestamp] = [:]
        package var hold: EvictionBrake.Hold?
        /// The folder that the lists were in.
        package var folder: FolderIdentity?

        init() {}

        init(_ database: Database, clock: AgentClock) throws {
            icons = try Row.fetchAll(database, sql: "SELECT * FROM icon").compactMap(IconMemo.init)
            origins = try Row.fetchAll(database, sql: "SELECT * FROM origin").compactMap(OriginMemo.init)
            isPaused = try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT * FROM pause)") ?? false
            for row in try Row.fetchAll(database, sql: "SELECT * FROM superseded") {
                guard let number: Int = row.value("generation"), let age = StoredAge(row) else { continue }
                supersessions[number] = age.time(by: clock)
            }
            hold = try Row.fetchOne(database, sql: "SELECT * FROM hold").flatMap {
                EvictionBrake.Hold($0, clock: clock)
            }
            folder = try Row.fetchOne(database, sql: "SELECT * FROM folder").flatMap(FolderIdentity.init)
        }
    }
}

extension Row {
    /// A value; `nil` if it is null, or of another type than was written.
    fileprivate func value<T: DatabaseValueConvertible>(_ column: String) -> T? {
        (self[column] as DatabaseValue?).flatMap(T.fromDatabaseValue)
    }

    fileprivate func time(_ column: String) -> Timestamp? {
        (value(column) as Int64?).map(Timestamp.init(milliseconds:))
    }
}

extension StoredAge {
    fileprivate init?(_ row: Row) {
        guard let elapsed: Int64 = row.value("elapsed"), let sinceBoot: Int64 = row.value("since_boot") else {
            return nil
        }
        self.init(elapsed: elapsed, boot: row.value("boot"), sinceBoot: sinceBoot)
    }
}

extension EvictionBrake.Hold {
    fileprivate init?(_ row: Row, clock: AgentClock) {
        guard let generation: Int = row.value("generation"), let images: Int = row.value("images"),
            let total: Int = row.value("total"), let isConfirmed: Bool = row.value("is_confirmed"),
            let age = StoredAge(row)
        else { return nil }
        self.init(
            since: age.time(by: clock), generation: generation, images: images, total: total, isConfirmed: isConfirmed)
    }
}

extension FolderIdentity {
    fileprivate init?(_ row: Row) {
        guard let fileSystem: Int64 = row.value("file_system"), let device: Int64 = row.value("device"),
            let handle: Data = row.value("handle")
        else { return nil }
        self.init(
            fileSystem: UInt64(bitPattern: fileSystem), device: UInt64(bitPattern: device), handle: Array(handle))
    }
}

extension OriginMemo {
    fileprivate init?(_ row: Row) {
        guard let origin: String = row.value("origin"), let failures: Int = row.value("failures"),
            let waitsUntil = row.time("waits_until")
        else { return nil }
        self.init(origin: origin, health: OriginHealth(failures: min(max(failures, 0), 1000), waitsUntil: waitsUntil))
    }
}

extension StoredResponse {
    fileprivate init?(_ row: Row) {
        guard let status: Int = row.value("status"), let fields: String = row.value("fields"),
            let requestTime = row.time("request_time"), let responseTime = row.time("response_time")
        else { return nil }
        self.init(
            status: status, url: row.value("response_url"), fields: HTTPFields(text: fields), requestTime: requestTime,
            responseTime: responseTime)
    }
}

extension IconMemo {
    fileprivate init?(_ row: Row) {
        guard let url: String = row.value("url"), let freshUntil = row.time("fresh_until") else { return nil }
        let failure = (row.value("failure") as String?).map { code in
            IconRecord.Failure(
                code: code, message: row.value("message") ?? "",
                attempts: min(max(row.value("attempts") ?? 1, 1), 1000),
                nextAttempt: row.time("next_attempt"))
        }
        self.init(
            url: url, image: (row.value("image") as String?).flatMap { Digest(hex: $0) },
            response: StoredResponse(row), freshUntil: freshUntil, failure: failure,
            trail: (row.value("trail") as String?).flatMap(FetchTrail.init(text:)))
    }
}

extension FetchTrail {
    var text: String { JSON.array(hops.map(\.json)).text }

    fileprivate init?(text: String) {
        guard let hops = try? JSONDecoder().decode([Hop].self, from: Data(text.utf8)) else { return nil }
        self.init(hops)
    }
}

extension Timestamp {
    var milliseconds: Int64 { sinceEpoch.milliseconds }

    fileprivate init(milliseconds: Int64) {
        self.init(sinceEpoch: .milliseconds(milliseconds))
    }
}
