// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import ImageChecks
package import WebAddresses

/// Why an icon could not be fetched.
package struct FetchFailure: Error, Equatable, Sendable {
    /// How long the cause is likely to last, which decides when to ask again.
    package enum Persistence: String, Sendable {
        /// The network, an overloaded server: it may be over in a second.
        case passing
        /// The server asks for fewer requests (429): its whole origin waits.
        case throttled
        /// The server says no, or sends something that is no image: asked again after an hour, then more and more rarely.
        case lasting
        /// The server refuses access (401, 403): asked again after 6 hours.
        case forbidden
        /// The server says that it is gone for good (410): asked again after 7 days.
        case gone
        /// The URL itself: never asked for, until the list changes.
        case refused
    }

    /// A stable word for scripts: `http-404`, `timeout`, `not-an-image`.
    package var code: String
    /// What happened, as a sentence without its full stop.
    package var message: String
    package var persistence: Persistence
    /// How long the server asks to wait (`Retry-After`, RFC 9110, section 10.2.3), as it said it.
    package var retryAfter: Duration?
    /// The origin that failed, if a redirect led to another one than the URL names.
    package var origin: String?

    package init(
        _ code: String, _ message: String, _ persistence: Persistence, retryAfter: Duration? = nil,
        origin: String? = nil
    ) {
        self.code = code
        self.message = message
        self.persistence = persistence
        self.retryAfter = retryAfter
        self.origin = origin
    }
}

extension FetchFailure.Persistence {
    /// How long the cause of a status is likely to last.
    ///
    /// Transient is what `curl --retry` takes for it, and 425 (RFC 8470, section 5.2). An unknown status of the 5xx
    /// class counts as 500 (RFC 9110, section 15), such as those that reverse proxies have made up.
    package init(ofStatus status: Int) {
        switch status {
        case 408, 425, 500, 502, 503, 504: self = .passing
        case 429: self = .throttled
        case 401, 403: self = .forbidden
        case 410: self = .gone
        // What else is registered of the 5xx class says what the server cannot do, today or tomorrow.
        case 501, 505...508, 510: self = .lasting
        case 500...599: self = .passing
        default: self = .lasting
        }
    }
}

extension FetchFailure {
    /// Whose failure it is, which decides who waits.
    package enum Blame: Sendable {
        /// The origin did not answer, or is not well: its other URLs would fare no better.
        case origin
        /// The origin is well, and this URL leads to no icon.
        case resource
        /// The agent itself, which learnt nothing of the origin.
        case agent
    }

    /// The codes of what came to no answer, or to none that is HTTP.
    private static let unanswered: Set = ["connect", "connection-closed", "dns", "protocol", "timeout", "tls"]

    /// Whether a code speaks of the server's troubles, and not of the icon (RFC 5861, section 4).
    package static func isServerTrouble(_ code: String) -> Bool {
        unanswered.contains(code) || code.hasPrefix("http-5")
    }

    /// The codes of what other settings, or another set of certificates, may allow.
    private static let settable: Set = [
        "address-refused", "downgrade-refused", "host-refused", "image-too-large", "port-refused", "scheme-refused",
        "tls", "too-large", "too-many-redirects", "userinfo-refused",
    ]

    /// Whether a code speaks of what the agent's settings had a say in, so that it is judged anew at each start.
    package static func dependsOnSettings(_ code: String) -> Bool { settable.contains(code) }

    package var blame: Blame {
        switch code {
        case _ where Self.unanswered.contains(code): .origin
        case "disk", "address-refused": .agent
        default:
            if persistence == .refused {
                .agent
            } else if persistence == .throttled || wait != nil || persistence == .passing && code.hasPrefix("http-5") {
                .origin
            } else {
                .resource
            }
        }
    }

    /// How long to wait because the server says so, where it means something.
    ///
    /// A server may say so with 503 and 429; some throttle by a 403. Zero, and a date that has passed, say nothing.
    package var wait: Duration? {
        switch persistence {
        case .passing, .throttled, .forbidden: retryAfter.flatMap { $0 > .zero ? $0 : nil }
        case .lasting, .gone, .refused: nil
        }
    }

    /// A URL that is never asked for.
    package init(_ refusal: URLRefusal) {
        self.init(refusal.code.rawValue, "\(refusal)", .refused)
    }

    /// A status other than the wanted ones, and how long its answer asks to wait.
    package static func status(_ status: Int, retryAfter: Duration? = nil) -> FetchFailure {
        FetchFailure(
            "http-\(status)", "the server answered \(status)", Persistence(ofStatus: status), retryAfter: retryAfter)
    }

    package static func tooLarge(limit: ByteCount) -> FetchFailure {
        FetchFailure("too-large", "the image is larger than fetch.maxBytes (\(limit))", .lasting)
    }

    package static func encoded(_ coding: String) -> FetchFailure {
        FetchFailure(
            "content-encoding", "the server encoded the body (\(coding)) although none was asked for", .lasting)
    }

    package static func image(_ rejection: ImageRejection) -> FetchFailure {
        // A body that came without its length, and was cut, shows only here.
        let isCut = if case .truncated = rejection { true } else { false }
        return FetchFailure(rejection.code, "\(rejection)", isCut ? .passing : .lasting)
    }

    /// A host stands for an address that must not be connected to.
    package static func address(_ refusal: AddressPolicy.Refusal, of host: String) -> FetchFailure {
        FetchFailure("address-refused", refusal.text(for: host), .lasting)
    }

    /// The same of a URL that carries its image itself: asking again cannot help.
    package var forGood: FetchFailure { FetchFailure(code, message, .refused) }

    /// The refusal of a URL that a server redirects to: it may redirect elsewhere tomorrow, so that this is not for ever.
    package var inRedirect: FetchFailure { FetchFailure(code, "in a redirect: \(message)", .lasting) }

    /// Its image is another one than the lists that give a digest for it say.
    package static let digestMismatch = FetchFailure(
        "digest-mismatch", "the image does not have the digest that the list gives (icon_hash)", .lasting)

    package static func protocolViolation(_ what: String, _ persistence: Persistence = .lasting) -> FetchFailure {
        FetchFailure("protocol", "the server does not speak HTTP as it should (\(what))", persistence)
    }

    package static func timeout(_ limit: String) -> FetchFailure {
        FetchFailure("timeout", "the server took longer than \(limit)", .passing)
    }
}
