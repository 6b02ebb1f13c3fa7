// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat
package import ImageChecks

/// Why an icon could not be fetched.
package struct FetchFailure: Error, Equatable, Sendable {
    /// How long the cause is likely to last, which decides when the next attempt is due.
    package enum Persistence: String, Sendable {
        /// The network, an overloaded server: it may be over in a second.
        case passing
        /// The server asks for fewer requests (429): its whole origin waits.
        case throttled
        /// The server says no, or sends something that is no image: the next attempts are after 1 h, then ever later.
        case lasting
        /// The server refuses access (401, 403): the next attempt is after 6 hours.
        case forbidden
        /// The server says that it is gone for good (410): the next attempt is after 7 days.
        case gone
        /// The URL itself: no attempt until the list changes.
        case refused
    }

    package var code: Code
    /// What happened, as a sentence without its full stop.
    package var message: String
    package var persistence: Persistence
    /// How long the server asks to wait (`Retry-After`, RFC 9110, section 10.2.3), as it said it.
    package var retryAfter: Duration?
    /// The origin that failed, if a redirect led to another one than the URL names.
    package var origin: String?

    /// A failure whose cause lasts as long as those of its code usually do, unless said otherwise.
    package init(_ code: Code, _ message: String, _ persistence: Persistence? = nil, retryAfter: Duration? = nil) {
        self.code = code
        self.message = message
        self.persistence = persistence ?? code.persistence
        self.retryAfter = retryAfter
    }

    /// The same of a cause that is neither the URL, nor the status, nor the image.
    package init(_ cause: Cause, _ message: String, _ persistence: Persistence? = nil) {
        self.init(.fetch(cause), message, persistence)
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

    package var blame: Blame {
        switch code {
        case .fetch(let cause) where cause.isNoAnswer: .origin
        case .fetch(.disk), .fetch(.addressRefused): .agent
        case _ where persistence == .refused: .agent
        case .http(let status):
            if persistence == .throttled || wait != nil || persistence == .passing && (500...599).contains(status) {
                .origin
            } else {
                .resource
            }
        case .fetch, .image, .url: .resource
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

    /// A URL that is never requested.
    package init(_ refusal: URLRefusal) {
        self.init(.url(refusal.code), "\(refusal)")
    }

    /// A status other than the wanted ones, and how long its answer asks to wait.
    package static func status(_ status: Int, retryAfter: Duration? = nil) -> FetchFailure {
        FetchFailure(.http(status), "the server answered \(status)", retryAfter: retryAfter)
    }

    /// The status of an answer, if it is not a wanted one, and how long it asks to wait.
    package static func status(of head: ResponseHead, receivedAt time: Timestamp) -> FetchFailure {
        status(head.status, retryAfter: RetryAfter(head.fields, receivedAt: time)?.delay)
    }

    package static func tooLarge(limit: ByteCount) -> FetchFailure {
        FetchFailure(.tooLarge, "the image is larger than fetch.maxBytes (\(limit))")
    }

    package static func encoded(_ coding: String) -> FetchFailure {
        FetchFailure(.contentEncoding, "the server encoded the body (\(coding)) although the request did not allow it")
    }

    package static func image(_ rejection: ImageRejection) -> FetchFailure {
        FetchFailure(.image(rejection.code), "\(rejection)")
    }

    /// A host stands for an address that must not be connected to.
    package static func address(_ refusal: AddressPolicy.Refusal, of host: String) -> FetchFailure {
        FetchFailure(.addressRefused, refusal.text(for: host))
    }

    /// The same of a URL that carries its image itself: another attempt cannot help.
    package var forGood: FetchFailure { FetchFailure(code, message, .refused) }

    /// The refusal of a URL that a server redirects to: it may redirect elsewhere tomorrow, so that this is not for ever.
    package var inRedirect: FetchFailure { FetchFailure(code, "in a redirect: \(message)", .lasting) }

    /// Its image is another one than the lists that give a digest for it say.
    package static let digestMismatch = FetchFailure(
        .digestMismatch, "the image does not have the digest that the list gives (icon_hash)")

    /// The downloaded copy is not the image that the manifest beside it names.
    package static let copyMismatch = FetchFailure(
        .digestMismatch, "the upstream sent another image than its manifest names", .passing)

    package static func protocolViolation(_ what: String, _ persistence: Persistence? = nil) -> FetchFailure {
        FetchFailure(.protocolViolation, "the response is not valid HTTP (\(what))", persistence)
    }

    package static func timeout(_ limit: String) -> FetchFailure {
        FetchFailure(.timeout, "the server took longer than \(limit)")
    }
}
