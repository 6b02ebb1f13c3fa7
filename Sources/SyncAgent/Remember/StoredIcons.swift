// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import HTTPRules
import Reports
import SyncPlan

/// What is remembered of icons: a row for each.
enum StoredIcons {
    static let table = """
        CREATE TABLE icon (
            url TEXT PRIMARY KEY NOT NULL,
            image TEXT,
            status INTEGER,
            response_url TEXT,
            fields TEXT,
            request_time INTEGER,
            response_time INTEGER,
            fresh_until INTEGER NOT NULL,
            failure TEXT,
            message TEXT,
            attempts INTEGER,
            next_attempt INTEGER,
            trail TEXT
        ) WITHOUT ROWID;
        """

    static func store(_ changes: MemoChanges, in database: Database) throws {
        for memo in changes.remembered {
            try database.run(
                """
                INSERT OR REPLACE INTO icon
                (url, image, status, response_url, fields, request_time, response_time, fresh_until, failure, message,
                 attempts, next_attempt, trail)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    .text(memo.url.text), Database.Value(memo.image?.hex), Database.Value(memo.response?.status),
                    Database.Value(memo.response?.url), Database.Value(memo.response?.fields.text),
                    Database.Value(memo.response?.requestTime.milliseconds),
                    Database.Value(memo.response?.responseTime.milliseconds),
                    .integer(memo.freshUntil.milliseconds), Database.Value(memo.failure?.code.rawValue),
                    Database.Value(memo.failure?.message), Database.Value(memo.failure?.attempts),
                    Database.Value(memo.failure?.nextAttempt?.milliseconds),
                    Database.Value(memo.trail?.puttingIn(memo.url).text),
                ])
        }
        for url in changes.forgotten { try database.run("DELETE FROM icon WHERE url = ?", [.text(url.text)]) }
    }

    static func load(from database: Database) throws -> IconMemos {
        var icons = IconMemos()
        _ = try StoredRow.all("icon", in: database) { icons.append(try IconMemo($0)) }
        return icons
    }
}

extension IconMemo {
    fileprivate init(_ row: StoredRow) throws {
        let url = IconURL(try row.text("url"))
        // A code of another version is forgotten with its failure: the icon is downloaded again, and all else stays.
        let failure = try row.optionalText("failure").flatMap(FetchFailure.Code.init(rawValue:)).map { code in
            IconRecord.Failure(
                code: code, message: try row.text("message"), attempts: min(try row.count("attempts"), 1000),
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

extension StoredResponse {
    /// - Returns: `nil` if there is none.
    fileprivate init?(_ row: StoredRow) throws {
        guard let status = try row.optionalNumber("status", in: 100...599) else { return nil }
        self.init(
            status: Int(status), url: try row.optionalText("response_url"), storedFields: try row.text("fields"),
            requestTime: try row.time("request_time"), responseTime: try row.time("response_time"))
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
