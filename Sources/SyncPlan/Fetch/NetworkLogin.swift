// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules

/// Detects that the login page of a network (a captive portal) answers in place of servers.
///
/// It is suspected if within a minute all servers that answer, of two owners at least, give the same page or redirect
/// to the same other origin, and none of them gives anything else. A single owner is not enough: during maintenance,
/// servers answer alike for all of their icons.
///
/// Icons that always lead to a page, such as that of a single sign-on, are often requested alone, while the others are
/// fresh. So an answer is no evidence if
/// - the icon failed in the same way before;
/// - it shares with the others only signs that, in the last 24 hours, came together with a server's genuine answer or
///   raised a suspicion; they count again if one of their icons has got another answer since: then there was a login;
/// - none of these servers has ever answered, and others have: a login page replaces servers that worked.
struct NetworkLogin: Sendable {
    /// The time within which the pages must come, and for which no other answer may come before or after.
    static let window: Duration = .seconds(60)
    /// The time between attempts to notice the login.
    static let interval: Duration = .seconds(60)
    /// How long icons are retried at ``interval``: servers may have the same page for another reason.
    static let duration: Duration = .seconds(3600)
    /// How long a discounted sign does not count as evidence.
    static let memory: Duration = .seconds(86_400)
    /// The most discounted signs; a new one then replaces the oldest.
    private static let signLimit = 64
    /// The most icons recorded for a discounted sign.
    private static let iconLimit = 64
    /// The number of working origins at which all of them are forgotten.
    private static let originLimit = 4096
    /// The most icons that are requested at ``interval``, at most one of each origin: the suspicion may be wrong, and
    /// many machines may have it.
    static let probeLimit = 4

    /// A feature that the pages of one network have in common.
    enum Sign: Hashable, Sendable {
        case page(Digest)
        case redirect(origin: String)
        /// A local address that the names of servers resolve to.
        case address(String)
        /// The status with which a network asks for a login (511, RFC 6585, section 6).
        case status
    }

    enum Answer: Hashable, Sendable {
        /// A page that may be a network's login.
        case page(Set<Sign>)
        /// Any other answer of a server.
        case genuine
        /// No answer, or an answer that is no evidence.
        case none
    }

    /// Pages of the last minute that have something in common.
    private struct Pages {
        var signs: Set<Sign>
        let begin: Timestamp
        var last: Timestamp
        var owners: Set<String> = []
        /// Whether one of the origins answered before.
        var haveWorked = false
        var icons: [IconURL] = []
    }

    private struct Suspicion {
        let since: Timestamp
        let signs: Set<Sign>
        /// The icons that are requested at ``interval``, by origin.
        var probes: [String: IconURL] = [:]
        /// The other icons that got the login page, with their origins.
        var waiting: [IconURL: String] = [:]
        /// Whether a probe was removed and not yet replaced.
        var lacksProbe = false
    }

    /// A sign that is no evidence of a login.
    private struct Discount {
        let sign: Sign
        var until: Timestamp
        /// The icons whose answers had the sign.
        var icons: Set<IconURL>
    }

    private var lastGenuine = Timestamp.distantPast
    /// When two pages last had nothing in common.
    private var lastDifference = Timestamp.distantPast
    /// The origins that have given a genuine answer.
    private var working: Set<String> = []
    private var pages: Pages?
    /// The present suspicion.
    ///
    /// A genuine answer ends it; after ``duration`` it has no effect any more.
    private var suspicion: Suspicion?
    /// The signs that are no evidence; the oldest first.
    private var discounted: [Discount] = []

    /// Whether failures are taken for a network's login.
    func isSuspected(at now: Timestamp) -> Bool { suspicion.map { now < $0.since + Self.duration } ?? false }

    /// Whether an answer is the suspected login page.
    func isLogin(_ answer: Answer, at now: Timestamp) -> Bool {
        guard isSuspected(at: now), let suspicion, case .page(let signs) = answer else { return false }
        return !suspicion.signs.isDisjoint(with: signs)
    }

    /// Records an answer of an origin.
    ///
    /// `isRepeated` tells whether the icon failed in the same way before.
    ///
    /// - Returns: If the answer raises a suspicion, the icons that got the page before; if it ends one, the icons that
    ///   can be retried.
    /// - Complexity: O(1), except for an answer that raises or ends a suspicion.
    mutating func record(
        _ answer: Answer, of icon: IconURL, from origin: String, isRepeated: Bool = false, at now: Timestamp
    ) -> [IconURL] {
        switch answer {
        case .none: return []
        case .genuine:
            recordGenuine(of: icon, from: origin, at: now)
            return end()
        case .page(let signs):
            if let common = suspicion?.signs {
                if !common.isDisjoint(with: signs) {
                    addToDiscounts(of: common, icon)
                    return []
                }
                lastDifference = now
                return end()
            }
            return record(signs, of: icon, from: origin, isRepeated: isRepeated, at: now)
        }
    }

    private mutating func recordGenuine(of icon: IconURL, from origin: String, at now: Timestamp) {
        lastGenuine = now
        if let pages {
            if now < pages.last + Self.window { discount(pages.signs, of: pages.icons, at: now) }
            self.pages = nil
        }
        // Signs of icons that now get genuine answers count again: the next login may come at any time. An icon that
        // always leads to a page would still get it.
        discounted.removeAll { $0.icons.contains(icon) }
        guard !working.contains(origin) else { return }
        if working.count >= Self.originLimit { working = [] }
        working.insert(origin)
    }

    private mutating func record(
        _ signs: Set<Sign>, of icon: IconURL, from origin: String, isRepeated: Bool, at now: Timestamp
    ) -> [IconURL] {
        guard lastGenuine + Self.window <= now else {
            discount(signs, of: [icon], at: now)
            return []
        }
        if let pages, now <= pages.begin + Self.window {
            guard !pages.signs.isDisjoint(with: signs) else {
                (self.pages, lastDifference) = (nil, now)
                return []
            }
        } else {
            pages = nil
        }
        guard !isRepeated, lastDifference + Self.window <= now else { return [] }
        let new = signs.filter { !isDiscounted($0, at: now) }
        // Moved out of `self`, so that its sets are not copied.
        var pages = self.pages ?? Pages(signs: new, begin: now, last: now)
        self.pages = nil
        if !pages.signs.isDisjoint(with: new) {
            pages.signs.formIntersection(new)
            pages.last = now
            pages.owners.insert(Self.owner(of: origin))
            pages.haveWorked = pages.haveWorked || working.contains(origin)
            if pages.owners.count > 1, pages.haveWorked || lastGenuine == .distantPast {
                suspicion = Suspicion(since: now, signs: pages.signs)
                discount(pages.signs, of: pages.icons + [icon], at: now)
                return pages.icons
            }
            pages.icons.append(icon)
        }
        if !pages.icons.isEmpty { self.pages = pages }
        return []
    }

    /// Ends the suspicion, and returns the icons that waited for its end.
    private mutating func end() -> [IconURL] {
        guard let ended = suspicion else { return [] }
        suspicion = nil
        return Set(ended.waiting.keys).union(ended.probes.values).sorted()
    }

    private func isDiscounted(_ sign: Sign, at now: Timestamp) -> Bool {
        discounted.contains { $0.sign == sign && now < $0.until }
    }

    private mutating func discount(_ signs: Set<Sign>, of icons: [IconURL], at now: Timestamp) {
        var known: [Sign: Set<IconURL>] = [:]
        for old in discounted where signs.contains(old.sign) { known[old.sign] = old.icons }
        discounted.removeAll { signs.contains($0.sign) }
        discounted += signs.map { Discount(sign: $0, until: now + Self.memory, icons: known[$0] ?? []) }
        for icon in icons { addToDiscounts(of: signs, icon) }
        if discounted.count > Self.signLimit { discounted.removeFirst(discounted.count - Self.signLimit) }
    }

    private mutating func addToDiscounts(of signs: Set<Sign>, _ icon: IconURL) {
        for index in discounted.indices
        where discounted[index].icons.count < Self.iconLimit && signs.contains(discounted[index].sign) {
            discounted[index].icons.insert(icon)
        }
    }

    // MARK: Attempts

    /// The delay until the next attempt of an icon that got the login page.
    ///
    /// A few icons are requested at ``interval``; the others wait until a server answers, or until the suspicion has no
    /// effect any more.
    mutating func delay(
        of icon: IconURL, from origin: String, at now: Timestamp, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        guard let since = suspicion?.since else { return Self.interval.jittered(using: &generator) }
        let probe = suspicion?.probes[origin]
        let hasPlace = probe == nil && (suspicion?.probes.count ?? 0) < Self.probeLimit
        guard hasPlace || probe == icon else {
            suspicion?.waiting[icon] = origin
            let rest = max(since + Self.duration - now, .zero)
            return rest + Self.interval * Double.random(in: 1...10, using: &generator)
        }
        suspicion?.probes[origin] = icon
        suspicion?.waiting[icon] = nil
        return Self.interval.jittered(using: &generator)
    }

    /// Whether icons may wait for a login, or be probes for it.
    var mayHoldIcons: Bool { suspicion != nil }

    /// Whether an icon is retried as soon as a server answers.
    func isWaiting(_ icon: IconURL) -> Bool { suspicion?.waiting[icon] != nil }

    /// Forgets an icon that no longer waits for a login: it failed in another way, or no list names it.
    ///
    /// - Complexity: O(1).
    mutating func leave(_ icon: IconURL) {
        guard suspicion != nil, suspicion?.waiting.removeValue(forKey: icon) == nil,
            let origin = suspicion?.probes.first(where: { $0.value == icon })?.key
        else { return }
        suspicion?.probes[origin] = nil
        suspicion?.lacksProbe = true
    }

    /// Replaces probes that were removed by waiting icons, and returns the new ones: without probes, nothing would
    /// notice the login.
    ///
    /// - Complexity: O(*n*) in the number of waiting icons if a probe has left, else O(1).
    mutating func replaceProbes(at now: Timestamp) -> [IconURL] {
        guard suspicion?.lacksProbe == true, var current = suspicion else { return [] }
        // Moved out of `self`, so that its sets are not copied.
        suspicion = nil
        defer { suspicion = current }
        current.lacksProbe = false
        guard now < current.since + Self.duration else { return [] }
        var new: [IconURL] = []
        while current.probes.count < Self.probeLimit {
            let probes = current.probes
            let first = current.waiting.lazy.filter { probes[$0.value] == nil }.map(\.key).min()
            guard let icon = first, let origin = current.waiting.removeValue(forKey: icon) else { break }
            current.probes[origin] = icon
            new.append(icon)
        }
        return new
    }

    // MARK: Owners

    /// The probable owner of an origin: the last two labels of its host name.
    ///
    /// Servers without a name are distinguished by port.
    static func owner(of origin: String) -> String {
        guard let place = origin.utf8.split(separator: UInt8(ascii: "/")).last else { return origin }
        let host = place[..<(place.lastIndex(of: UInt8(ascii: ":")) ?? place.endIndex)]
        let labels = host.split(separator: UInt8(ascii: "."))
        let name = String(Substring(host))
        guard let first = labels.suffix(2).first, name != "localhost", !FetchTarget.isNoName(name) else {
            return String(Substring(place))
        }
        return String(Substring(host[first.startIndex...]))
    }
}
