// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import FoundationEssentials
package import SyncPlan

extension StateStore {
    /// What an earlier run left.
    package struct Restored: Sendable {
        package var icons = IconMemos()
        package var origins: [OriginMemo] = []
        package var lists: [ListMemo] = []
        package var isPaused = false
        /// When generations were superseded, by the clock of this run.
        package var supersessions: [Int: Timestamp] = [:]
        package var hold: EvictionBrake.Hold?
        /// The folder that the lists were in.
        package var folder: FolderIdentity?
        /// The highest number that a generation was given; 0 if none was.
        package var newestGeneration = 0

        init() {}

        /// - Throws: ``StoredRow/Unbelievable`` if no agent can have written what is there.
        init(_ database: Database, clock: AgentClock) throws {
            var icons = IconMemos()
            _ = try StoredRow.all("icon", in: database) { icons.append(try IconMemo($0)) }
            self.icons = icons
            origins = try StoredRow.all("origin", in: database, OriginMemo.init)
            lists = try StoredRow.all("list", in: database, ListMemo.init)
            isPaused = try !StoredRow.all("pause", in: database) { _ in true }.isEmpty
            for (generation, time) in try StoredRow.all(
                "superseded", in: database, { (try $0.generation(), try $0.age().time(by: clock)) })
            {
                supersessions[generation] = time
            }
            hold = try StoredRow.all("hold", in: database) { try EvictionBrake.Hold($0, clock: clock) }.first
            folder = try StoredRow.all("folder", in: database, FolderIdentity.init).first
            newestGeneration = try StoredRow.all("newest", in: database) { try $0.generation() }.first ?? 0
        }
    }
}

extension EvictionBrake.Hold {
    fileprivate init(_ row: StoredRow, clock: AgentClock) throws {
        self.init(
            since: try row.age().time(by: clock), generation: try row.generation(), images: try row.count("images"),
            total: try row.count("total"), isConfirmed: try row.number("is_confirmed", in: 0...1) == 1)
    }
}

extension FolderIdentity {
    /// The longest handle, in bytes (`MAX_HANDLE_SZ` is 128).
    private static let longestHandle = 1024

    fileprivate init(_ row: StoredRow) throws {
        self.init(
            fileSystem: UInt64(bitPattern: try row.number("file_system")),
            device: UInt64(bitPattern: try row.number("device")),
            handle: try row.bytes("handle", atMost: Self.longestHandle))
    }
}

extension OriginMemo {
    fileprivate init(_ row: StoredRow) throws {
        self.init(
            origin: try row.text("origin"),
            health: OriginHealth(
                failures: min(try row.count("failures"), 1000), waitsUntil: try row.time("waits_until")))
    }
}

extension ListMemo {
    init(_ row: StoredRow) throws {
        self.init(
            list: ListName(try row.text("name")), sha256: try row.digest("sha256"), rules: try row.text("rules"))
    }
}

extension StoredResponse {
    /// - Returns: `nil` if there is none.
    fileprivate init?(_ row: StoredRow) throws {
        guard let status = try row.optionalNumber("status", in: 100...599) else { return nil }
        self.init(
            status: Int(status), url: try row.optionalText("response_url"), storedFields: try row.text("fields"),
            requestTime: try row.time("request_time"), responseTime: try row.time("response_time"))
    }
}

extension IconMemo {
    fileprivate init(_ row: StoredRow) throws {
        let url = IconURL(try row.text("url"))
        let failure = try row.optionalText("failure").map { code in
            IconRecord.Failure(
                code: code, message: try row.text("message"), attempts: min(max(try row.count("attempts"), 1), 1000),
                nextAttempt: try row.optionalTime("next_attempt"))
        }
        let trail = try row.optionalText("trail").map { text in
            guard let trail = FetchTrail(text: text) else { throw row.doubt("trail") }
            return trail.leavingOut(url)
        }
        self.init(
            url: url, image: try row.optionalDigest("image"),
            response: try StoredResponse(row), freshUntil: try row.time("fresh_until"), failure: failure, trail: trail)
    }
}

extension FetchTrail {
    var text: String { JSON.array(hops.map(\.json)).text }

    fileprivate init?(text: String) {
        guard let hops = Self.hops(written: text) ?? (try? JSONDecoder().decode([Hop].self, from: Data(text.utf8)))
        else { return nil }
        self.init(hops)
    }

    /// The hops, if the text is as ``text`` has it and no string in it has an escape.
    private static func hops(written json: String) -> [Hop]? {
        var text = WrittenJSON(Array(json.utf8))
        var hops: [Hop] = []
        guard text.take("[ ") else { return nil }
        repeat {
            guard let hop = Hop(&text) else { return nil }
            hops.append(hop)
        } while text.take(", ")
        return text.take(" ]") && text.isAtEnd ? hops : nil
    }
}

extension FetchTrail.Hop {
    fileprivate init?(_ text: inout WrittenJSON) {
        guard text.take("{ \"url\": "), let url = text.string(),
            text.take(", \"status\": "), let status = text.orNull({ $0.number() }),
            text.take(", \"allowedBy\": "), let allowedBy = text.orNull({ $0.string() }),
            text.take(", \"proxy\": "), let proxy = text.orNull({ $0.string() }), text.take(" }")
        else { return nil }
        self.init(url: url, status: status, allowedBy: allowedBy, proxy: proxy)
    }
}

extension Timestamp {
    var milliseconds: Int64 { sinceEpoch.milliseconds }
}
