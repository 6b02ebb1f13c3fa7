// SPDX-License-Identifier: Apache-2.0
import CacheFormat

@testable import HTTPRules

// Rules for caches that the agent has no use for: it keeps every image, and shows it however old it is.

extension StoredResponse {
    /// Whether a private cache may store the response (RFC 9111, section 3).
    var mayBeStored: Bool {
        let control = cacheControl
        guard !forbidsStoring(control), isUnderstood || !control.flags.contains(.mustUnderstand) else { return false }
        return isUnderstood || control.maxAge != .unsaid || fields.first("expires") != nil
            || control.flags.contains(.public) || directives["private"] != nil
    }

    /// Whether a response that is not fresh any more may be used while it is asked for again (RFC 5861, section 3).
    func mayBeUsedWhileRevalidating(at now: Timestamp) -> Bool {
        mayBeUsedStale && staleness(at: now) < directives["stale-while-revalidate"]?.seconds ?? .zero
    }

    /// Whether a response that is not fresh any more may be used if its server does not answer, or with 5xx (RFC 5861,
    /// section 4).
    func mayBeUsedOnError(at now: Timestamp) -> Bool {
        mayBeUsedStale && directives["stale-if-error"].map { staleness(at: now) < $0.seconds ?? .zero } ?? true
    }

    private var mayBeUsedStale: Bool {
        !cacheControl.flags.contains(.noCache) && directives["must-revalidate"] == nil && !forbidsStoring(cacheControl)
            && !variesOnEverything
    }

    private func staleness(at now: Timestamp) -> Duration {
        let freshness = Freshness(of: self)
        return freshness.age(at: now) - freshness.lifetime
    }

    /// The members of its `Cache-Control` by name; the first one of each counts.
    private var directives: [String: CacheControlMembers.Member] {
        let value = fields.joined("cache-control") ?? ""
        var members = CacheControlMembers()
        var directives: [String: CacheControlMembers.Member] = [:]
        while let member = members.next(in: value.utf8Span.span) {
            let name = value.utf8Span.span.extracting(member.name).string.asciiLowercased
            directives[name] = directives[name] ?? member
        }
        return directives
    }
}

extension NextCheck {
    /// Whether a request is to be sent; it also is if the response seems to come from the future.
    func isDue(at now: Timestamp) -> Bool { now >= time || Self.isAhead(freshness.receivedAt, of: now) }
}

extension HTTPFields {
    private static let excepted: Set<String> = [
        "connection", "content-length", "keep-alive", "proxy-authenticate", "proxy-authentication-info",
        "proxy-authorization", "proxy-connection", "te", "transfer-encoding", "upgrade",
    ]

    /// All fields, updated by those of a `304` (RFC 9111, section 3.2).
    ///
    /// A field in the `304` replaces all lines of that name. `Content-Length` and connection-specific fields are
    /// ignored.
    func updated(by update: HTTPFields) -> HTTPFields {
        let named = update["connection"].flatMap { $0.split(atByte: ",") }
            .map { $0.trimmingWhitespace.asciiLowercased }
        let excepted = Self.excepted.union(named)
        let new = update.lines.filter { !excepted.contains($0.name) }
        let names = Set(new.map(\.name))
        return HTTPFields(lines.filter { !names.contains($0.name) } + new)
    }
}
