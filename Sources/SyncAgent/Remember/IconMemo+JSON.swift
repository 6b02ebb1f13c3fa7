// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Fleet
import HTTPRules
import Reports
import SyncPlan

/// There can be a million icons, so their JSON has arrays without names. It is read in the exact layout in which it is
/// written. A URL that is the icon's own is left out.
extension IconMemo {
    // [ image, freshUntil, response, failure, trail ]
    var json: String {
        // An image of which nothing is known has the first of all times.
        let freshUntil = freshUntil == .distantPast ? "null" : number(freshUntil)
        return "[ \(quoted(image?.hex)), \(freshUntil), \(response?.row(of: url) ?? "null"),"
            + " \(failure?.row ?? "null"), \(trail.map { JSON($0.hops).text } ?? "null") ]"
    }

    /// Reads what ``json`` wrote; `nil` if no agent can have written it.
    init?(url: IconURL, json: [UInt8]) {
        var text = WrittenJSON(json)
        guard text.take("[ "), let image = text.orNull({ $0.digest() }),
            text.take(", "), let freshUntil = text.orNull({ $0.time() }),
            text.take(", "), let response = text.orNull({ StoredResponse(&$0, of: url) }),
            text.take(", "), let failure = text.orNull({ IconRecord.Failure.read(&$0) }),
            text.take(", "), let trail = text.orNull({ FetchTrail(&$0) }),
            // A later version adds members.
            text.take(" ]") && text.isAtEnd || text.take(", ")
        else { return nil }
        self.init(
            url: url, image: image, response: response, freshUntil: freshUntil ?? .distantPast, failure: failure ?? nil,
            trail: trail)
    }
}

extension StoredResponse {
    // [ status, url, fields, requestTime, responseTime ]
    fileprivate func row(of icon: IconURL) -> String {
        let url = url.map(IconURL.init) == icon ? "" : url
        return "[ \(status), \(quoted(url)), \(quoted(fields.text)), \(number(requestTime)), \(number(responseTime)) ]"
    }

    fileprivate init?(_ text: inout WrittenJSON, of icon: IconURL) {
        guard text.take("[ "), let status = text.number(), (100...599).contains(status),
            text.take(", "), let url = text.orNull({ $0.string() }), text.take(", "), let fields = text.string(),
            text.take(", "), let requestTime = text.time(), text.take(", "), let responseTime = text.time(),
            text.take(" ]")
        else { return nil }
        self.init(
            status: status, url: url?.isEmpty == true ? icon.text : url, storedFields: fields, requestTime: requestTime,
            responseTime: responseTime)
    }
}

extension IconRecord.Failure {
    // [ code, message, attempts, nextAttempt ]
    fileprivate var row: String {
        "[ \(quoted(code.rawValue)), \(quoted(message)), \(attempts), \(nextAttempt.map(number) ?? "null") ]"
    }

    /// - Returns: `.some(nil)` if the code is one of another version: the icon is downloaded again, and all else stays.
    fileprivate static func read(_ text: inout WrittenJSON) -> Self?? {
        guard text.take("[ "), let code = text.string(), text.take(", "), let message = text.string(),
            text.take(", "), let attempts = text.number(),
            text.take(", "), let nextAttempt = text.orNull({ $0.time() }), text.take(" ]")
        else { return nil }
        return .some(
            FetchFailure.Code(rawValue: code).map {
                Self(code: $0, message: message, attempts: min(attempts, 1000), nextAttempt: nextAttempt)
            })
    }
}

extension FetchTrail {
    fileprivate init?(_ text: inout WrittenJSON) {
        var hops: [Hop] = []
        guard text.take("[ ") else { return nil }
        repeat {
            guard text.take("{ \"url\": "), let url = text.string(),
                text.take(", \"status\": "), let status = text.orNull({ $0.number() }),
                text.take(", \"allowedBy\": "), let allowedBy = text.orNull({ $0.string() }),
                text.take(", \"proxy\": "), let proxy = text.orNull({ $0.string() }), text.take(" }")
            else { return nil }
            hops.append(Hop(url: url, status: status, allowedBy: allowedBy, proxy: proxy))
        } while text.take(", ")
        guard text.take(" ]") else { return nil }
        self.init(hops)
    }
}

private func quoted(_ text: String?) -> String { text.map(JSON.quoted) ?? "null" }

/// Milliseconds since 1970; 0 for a time before that.
private func number(_ time: Timestamp) -> String { "\(max(time.milliseconds, 0))" }

extension WrittenJSON {
    fileprivate mutating func time() -> Timestamp? {
        guard let number = number() else { return nil }
        return Timestamp(milliseconds: Int64(number))
    }

    /// Reads the next value; `.some(nil)` if it is `null`.
    fileprivate mutating func orNull<Value>(_ read: (inout WrittenJSON) -> Value?) -> Value?? {
        if take("null") { return .some(nil) }
        guard let value = read(&self) else { return nil }
        return .some(value)
    }
}
