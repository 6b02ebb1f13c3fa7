// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Fleet
import HTTPRules
import SyncPlan

/// There can be a million icons, so their JSON has arrays without names. It is read in the exact layout in which it is
/// written. A URL that is the icon's own is left out.
extension IconMemo {
    // [ image, freshUntil, response, failure, trail ]; with the size of an image that did not fit only if there is one.
    var json: [UInt8] {
        var text = JSONText(capacity: 512)
        text.orNull(after: "[ ", image) { $0.digest($1) }
        // `.distantPast` (freshness unknown) is stored as null.
        text.orNull(after: ", ", freshUntil == .distantPast ? nil : freshUntil) { $0.time($1) }
        text.orNull(after: ", ", packedResponse?.unpacked) { $1.write(to: &$0, of: url) }
        text.orNull(after: ", ", failure) { $1.write(to: &$0) }
        text.orNull(after: ", ", trail) { $1.write(to: &$0) }
        if let bytes = failure?.imageBytes { text.number(after: ", ", bytes) }
        text.literal(" ]")
        return text.bytes
    }

    /// Reads a memo that ``json`` wrote; `nil` if no agent can have written it.
    init?(url: IconURL, json: [UInt8]) {
        var text = WrittenJSON(json)
        guard text.take("[ "), let image = text.orNull({ $0.digest() }),
            text.take(", "), let freshUntil = text.orNull({ $0.time() }),
            text.take(", "), let response = text.orNull({ PackedResponse(&$0, of: url) }),
            text.take(", "), var failure = text.orNull({ IconRecord.Failure.read(&$0) }),
            text.take(", "), let trail = text.orNull({ FetchTrail(&$0) }),
            case let isEnd = text.take(" ]") && text.isAtEnd,
            // A later version may have added members.
            isEnd || text.take(", ")
        else { return nil }
        if !isEnd { failure??.imageBytes = text.number() }
        self.init(
            url: url, image: image, packedResponse: response, freshUntil: freshUntil ?? .distantPast,
            failure: failure ?? nil, trail: trail)
    }
}

extension StoredResponse {
    // [ status, url, fields, requestTime, responseTime ]
    fileprivate func write(to text: inout JSONText, of icon: IconURL) {
        text.number(after: "[ ", status)
        text.orNull(after: ", ", url.map { IconURL($0) == icon ? "" : $0 }) { $0.string($1) }
        text.string(after: ", ", fields.text)
        text.time(after: ", ", requestTime)
        text.time(after: ", ", responseTime)
        text.literal(" ]")
    }
}

extension PackedResponse {
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
    fileprivate func write(to text: inout JSONText) {
        text.string(after: "[ ", code.rawValue)
        text.string(after: ", ", message)
        text.number(after: ", ", attempts)
        text.orNull(after: ", ", nextAttempt) { $0.time($1) }
        text.literal(" ]")
    }

    /// - Returns: `.some(nil)` if the code is one of another version: the icon is then downloaded again, and the rest
    ///   of its memo is kept.
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
    // [ { url, status, allowedBy, proxy }, … ]; with a credential only if there is one: earlier versions cannot read
    // it.
    fileprivate func write(to text: inout JSONText) {
        text.literal("[ ")
        for (index, hop) in hops.enumerated() {
            if index > 0 { text.literal(", ") }
            text.string(after: "{ \"url\": ", hop.url)
            text.orNull(after: ", \"status\": ", hop.status) { $0.number($1) }
            text.orNull(after: ", \"allowedBy\": ", hop.allowedBy) { $0.string($1) }
            text.orNull(after: ", \"proxy\": ", hop.proxy) { $0.string($1) }
            if let credential = hop.credential {
                text.string(after: ", \"credential\": ", credential)
            }
            text.literal(" }")
        }
        text.literal(" ]")
    }

    fileprivate init?(_ text: inout WrittenJSON) {
        var hops: [Hop] = []
        guard text.take("[ ") else { return nil }
        repeat {
            guard text.take("{ \"url\": "), let url = text.string(),
                text.take(", \"status\": "), let status = text.orNull({ $0.number() }),
                text.take(", \"allowedBy\": "), let allowedBy = text.orNull({ $0.string() }),
                text.take(", \"proxy\": "), let proxy = text.orNull({ $0.string() })
            else { return nil }
            var credential: String?
            // Older versions wrote no credential.
            if text.take(", \"credential\": ") {
                guard let written = text.orNull({ $0.string() }) else { return nil }
                credential = written
            }
            guard text.take(" }") else { return nil }
            hops.append(Hop(url: url, status: status, allowedBy: allowedBy, proxy: proxy, credential: credential))
        } while text.take(", ")
        guard text.take(" ]") else { return nil }
        self.init(hops)
    }
}

extension JSONText {
    /// Appends milliseconds since 1970; 0 for a time before that.
    fileprivate mutating func time(after beginning: StaticString = "", _ time: Timestamp) {
        number(after: beginning, Int(max(time.milliseconds, 0)))
    }

    fileprivate mutating func orNull<Value>(
        after beginning: StaticString, _ value: Value?, _ write: (inout JSONText, Value) -> Void
    ) {
        literal(beginning)
        if let value { write(&self, value) } else { literal("null") }
    }
}

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
