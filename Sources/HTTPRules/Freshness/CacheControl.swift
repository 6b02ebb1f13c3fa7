// SPDX-License-Identifier: Apache-2.0

/// A response's `Cache-Control` directives for a private cache (RFC 9111, section 5.2.2).
///
/// Names are case-insensitive; arguments are tokens or quoted strings. The first of duplicate directives counts
/// (section 4.2.1). Directives for shared caches (`s-maxage`, `proxy-revalidate`), unknown ones, and those on the use
/// of stale responses are ignored: a ready icon stays in any case.
package struct CacheControl: Equatable, Sendable {
    /// A directive without an argument; arguments are ignored, except for `no-cache`.
    package enum Flag: String, Sendable, CaseIterable {
        /// The response must be revalidated before each use.
        ///
        /// With field names as its argument it applies only to those fields. The agent hands out no fields, so that
        /// form is ignored. A value with an unclosed quote counts as `no-cache`, since the meaning of the rest is
        /// unknown.
        case noCache = "no-cache"
        case noStore = "no-store"
        case mustUnderstand = "must-understand"
        case `public`
    }

    package enum MaxAge: Equatable, Sendable {
        case unsaid
        /// Not a whole number of seconds: the response counts as stale (section 4.2.1).
        case malformed
        case duration(Duration)
    }

    package private(set) var flags: Set<Flag> = []
    package private(set) var maxAge = MaxAge.unsaid

    /// Parses a field value; join several lines with commas.
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
