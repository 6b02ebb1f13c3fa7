// SPDX-License-Identifier: Apache-2.0

/// A response's `Cache-Control` directives for a private cache (RFC 9111, section 5.2.2).
///
/// Names are case-insensitive; arguments are tokens or quoted strings. The first of duplicate directives counts
/// (section 4.2.1). Directives for shared caches (`s-maxage`, `proxy-revalidate`), unknown ones, and those on the use
/// of stale responses are ignored: a ready icon stays in any case.
package struct CacheControl: Equatable, Sendable {
    /// The directives without an argument; arguments are ignored, except for `no-cache`.
    package struct Flags: OptionSet, Sendable {
        /// The response must be revalidated before each use.
        ///
        /// With field names as its argument it applies only to those fields. The agent hands out no fields, so that
        /// form is ignored. A value with an unclosed quote counts as `no-cache`, since the meaning of the rest is
        /// unknown.
        package static let noCache = Flags(rawValue: 1)
        package static let noStore = Flags(rawValue: 2)
        package static let mustUnderstand = Flags(rawValue: 4)
        package static let `public` = Flags(rawValue: 8)

        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
    }

    package enum MaxAge: Equatable, Sendable {
        case unsaid
        /// Not a whole number of seconds: the response counts as stale (section 4.2.1).
        case malformed
        case duration(Duration)
    }

    package private(set) var flags: Flags = []
    package private(set) var maxAge = MaxAge.unsaid

    /// Parses a field value; join several lines with commas.
    package init(_ value: String) { self.init(value.utf8Span.span) }

    init(_ value: Span<UInt8>) {
        var members = CacheControlMembers()
        while let member = members.next(in: value) { add(member, named: value.extracting(member.name)) }
        if members.isCut { flags.insert(.noCache) }
    }

    private mutating func add(_ member: CacheControlMembers.Member, named name: Span<UInt8>) {
        if name.matches("max-age") {
            guard maxAge == .unsaid else { return }
            maxAge = member.seconds.map(MaxAge.duration) ?? .malformed
        } else if name.matches("no-cache") {
            if member.argument?.isEmpty ?? true { flags.insert(.noCache) }
        } else if name.matches("no-store") {
            flags.insert(.noStore)
        } else if name.matches("must-understand") {
            flags.insert(.mustUnderstand)
        } else if name.matches("public") {
            flags.insert(.public)
        }
    }
}
