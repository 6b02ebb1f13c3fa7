// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules

/// Whether the login page of a network answers in place of servers: a captive portal.
///
/// It does if within a minute all origins that answer, two at least, give the same page or redirect to the same other
/// origin, and none of them gives anything else. A single origin is not enough: during maintenance, servers answer alike
/// for all of their icons.
struct NetworkLogin: Sendable {
    /// In which time the pages come, and before which nothing else did.
    static let window: Duration = .seconds(60)
    /// The time between attempts.
    static let interval: Duration = .seconds(60)
    /// How long icons are retried at that interval: servers may have the same page for another reason.
    static let duration: Duration = .seconds(3600)

    /// What the pages of one network have in common.
    enum Sign: Hashable, Sendable {
        case page(Digest)
        case redirect(origin: String)
    }

    enum Answer: Hashable, Sendable {
        /// What may be a login page.
        case page(Set<Sign>)
        /// Anything else that a server sends.
        case genuine
        /// No answer, or one that tells nothing.
        case none
    }

    /// When it was first suspected; `nil` if it is not.
    private(set) var since: Timestamp?
    private var lastGenuine = Timestamp.distantPast
    /// What all pages since ``begin`` have in common.
    private var signs: Set<Sign> = []
    private var origin: String?
    private var begin = Timestamp.distantPast
    private var icons: [IconURL] = []

    /// Whether failures are those of a network's login.
    func isSuspected(at now: Timestamp) -> Bool { since.map { now < $0 + Self.duration } ?? false }

    /// Records an answer of an origin.
    ///
    /// - Returns: The icons whose pages came before the one that raised the suspicion.
    mutating func record(
        _ answer: Answer, of icon: IconURL, from origin: String, at now: Timestamp
    ) -> [IconURL] {
        switch answer {
        case .none: return []
        case .genuine:
            (since, lastGenuine) = (nil, now)
            clear()
            return []
        case .page(let new):
            // After the hour, another answer has to come first.
            guard since == nil, lastGenuine + Self.window <= now else { return [] }
            if self.origin == nil || begin + Self.window < now {
                (signs, self.origin, begin, icons) = (new, origin, now, [icon])
                return []
            }
            signs.formIntersection(new)
            if signs.isEmpty {
                lastGenuine = now
                clear()
                return []
            }
            guard origin != self.origin else {
                icons.append(icon)
                return []
            }
            since = now
            defer { clear() }
            return icons
        }
    }

    private mutating func clear() {
        (signs, origin, icons) = ([], nil, [])
    }
}

extension NetworkLogin.Answer {
    init(_ outcome: FetchOutcome) {
        switch outcome {
        case .image, .notModified: self = .genuine
        case .noRoom, .cancelled: self = .none
        case .failed(let failure):
            if let page = failure.page {
                let body = page.body.map { NetworkLogin.Sign.page($0) }
                let redirect = page.origin.map { NetworkLogin.Sign.redirect(origin: $0) }
                self = .page(Set([body, redirect].compactMap(\.self)))
            } else {
                self = failure.blame == .resource && !failure.code.mayBeLogin ? .genuine : .none
            }
        }
    }
}
