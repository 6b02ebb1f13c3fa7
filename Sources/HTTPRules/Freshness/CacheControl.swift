// SPDX-License-Identifier: Apache-2.0

/// What a response's `Cache-Control` says to a private cache (RFC 9111, section 5.2.2).
///
/// Names are read in any case, arguments as tokens or quoted strings. Of a directive that comes twice, the first one
/// counts (section 4.2.1). Directives for shared caches (`s-maxage`, `proxy-revalidate`), unknown ones, and those on the
/// use of stale responses are ignored: a ready icon stays in any case.
package struct CacheControl: Equatable, Sendable {
    /// A directive that is there or not; an argument changes nothing, but for `no-cache`.
    package enum Flag: String, Sendable, CaseIterable {
        /// Not to be used without asking the server.
        ///
        /// With field names as its argument it only speaks of those fields. The agent hands no field to anyone, so that
        /// form says nothing to it. A value with a quote that is never closed counts as `no-cache`: what the rest of it
        /// was meant to say is unknown.
        case noCache = "no-cache"
        case noStore = "no-store"
        case mustUnderstand = "must-understand"
        case `public`
    }

    /// How long the response is fresh.
    package enum MaxAge: Equatable, Sendable {
        case unsaid
        /// Not a whole number of seconds: the response counts as stale (section 4.2.1).
        case malformed
        case duration(Duration)
    }

    package private(set) var flags: Set<Flag> = []
    package private(set) var maxAge = MaxAge.unsaid

    /// Reads a field value; several lines are given as one list.
    package init(_ value: String) {
        var members = CacheControlMembers(value)
        while let member = members.next() {
            add(member)
        }
        if members.isCut { flags.insert(.noCache) }
    }

    private mutating func add(_ member: CacheControlMembers.Member) {
        switch member.name {
        case "max-age":
            guard maxAge == .unsaid else { return }
            maxAge = member.seconds.map(MaxAge.duration) ?? .malformed
        case Flag.noCache.rawValue:
            if case .value(let fields) = member.argument, !fields.isEmpty { return }
            flags.insert(.noCache)
        default:
            if let flag = Flag(rawValue: member.name) { flags.insert(flag) }
        }
    }
}
