// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat
package import ImageChecks

package struct FetchFailure: Error, Equatable, Sendable {
    /// How long the cause is likely to last, which determines the next attempt.
    package enum Persistence: String, Sendable {
        /// Transient, such as a network error or an overloaded server, or the failure of a whole origin that its owner will
        /// correct: it may be over in a second.
        case passing
        /// The cause will probably be over soon, but may stay for good: some servers always send 202 to a program that cannot
        /// solve a challenge. The first attempts are those of `passing`, the others of `lasting`.
        case momentary
        /// The server asks for fewer requests (429): its whole origin waits.
        case throttled
        /// An error status, or a body that is no image: the next attempts follow after 1 h, 2 h, and so on.
        case lasting
        /// The server refuses access (401, 403): the next attempt is after 6 hours.
        case forbidden
        /// The server says that the image is gone for good (410): the next attempt is after 7 days.
        case gone
        /// The URL itself is refused: no attempt until the list changes.
        case refused
    }

    package var code: Code
    /// The failure, as a sentence without its full stop.
    package var message: String
    package var persistence: Persistence
    /// The delay that the server asks for (`Retry-After`, RFC 9110, section 10.2.3), unchanged.
    package var retryAfter: Duration?
    /// The origin that failed, if a redirect led away from the URL's own.
    package var origin: String?
    /// The signs of a network's login page in the answer; `nil` if there are none.
    package var page: Page?
    /// Where the image was cut off; `nil` for other failures.
    package var cut: Cut?
    /// The size of the image that did not fit under a limit, in bytes; `nil` for other failures, and if it is not known.
    package var imageBytes: Int?

    /// An answer that a network may have given instead of the server.
    package struct Page: Hashable, Sendable {
        /// The digest of a body that looks like HTML.
        package var body: Digest?
        /// The origin that a redirect led to, if it is another one.
        package var origin: String?
        /// The local address that a name resolves to.
        package var address: String?

        /// Takes the signs of a login page; `nil` if there are none.
        package init?(body: Digest? = nil, origin: String? = nil, address: String? = nil) {
            guard body != nil || origin != nil || address != nil else { return nil }
            (self.body, self.origin, self.address) = (body, origin, address)
        }
    }

    package init(_ code: Code, _ message: String, _ persistence: Persistence? = nil, retryAfter: Duration? = nil) {
        self.code = code
        self.message = message
        self.persistence = persistence ?? code.persistence
        self.retryAfter = retryAfter
    }

    /// A failure whose cause is neither the URL, nor the status, nor the image.
    package init(_ cause: Cause, _ message: String, _ persistence: Persistence? = nil) {
        self.init(.fetch(cause), message, persistence)
    }
}

extension FetchFailure.Persistence {
    /// Whether a delay that the server asks for counts.
    package var allowsWait: Bool {
        switch self {
        case .passing, .momentary, .throttled, .forbidden: true
        case .lasting, .gone, .refused: false
        }
    }

    /// The persistence of a status.
    ///
    /// Transient statuses are those that `curl --retry` retries, and those whose definition says that the cause ends by
    /// itself. An unknown 5xx status, such as the ones that some reverse proxies send, counts as 500 (RFC 9110, section
    /// 15).
    package init(ofStatus status: Int) {
        switch status {
        // The image is still being made (RFC 9110, section 15.3.3).
        case 202: self = .momentary
        // A 304 to a request without conditions is a cache's mistake, which ends with its copy.
        case 304: self = .momentary
        // Another connection may reach the right server (421); the file is locked for a change (423, RFC 4918, section
        // 11.3); the request is not sent early again (425, RFC 8470, section 5.2).
        case 408, 421, 423, 425: self = .momentary
        // The disk of the server is full for now (507, RFC 4918, section 11.5); a network wants a log-in (511).
        case 500, 502, 503, 504, 507, 511: self = .passing
        case 429: self = .throttled
        case 401, 403: self = .forbidden
        case 410: self = .gone
        // The other registered 5xx statuses mean that the server lacks the ability, today and tomorrow.
        case 501, 505, 506, 508, 510: self = .lasting
        case 500...599: self = .passing
        default: self = .lasting
        }
    }
}

extension FetchFailure {
    /// The cause's owner, which determines what waits: an origin, a URL or nothing.
    package enum Blame: Sendable {
        /// The origin did not answer, or has an error: its other URLs would fail too.
        case origin
        /// The origin works, but this URL leads to no icon.
        case resource
        /// The agent itself: nothing is known about the origin.
        case agent
    }

    package var blame: Blame {
        switch code {
        case _ where mayBeCut && cut?.isProgress == true: .resource
        case _ where code.isNoAnswer: .origin
        case .fetch(.disk), .fetch(.addressRefused): .agent
        case _ where persistence == .refused: .agent
        case .http(let status):
            persistence == .throttled || persistence == .passing && (500...599).contains(status) ? .origin : .resource
        case .fetch, .image, .url: .resource
        }
    }

    /// The delay that the server asks for, if it is meaningful.
    ///
    /// Servers send it with 503 and 429; some also throttle with 403. Zero and past dates are ignored. The delay is for
    /// the URL alone, except after 429 (RFC 9110, section 10.2.3).
    package var wait: Duration? {
        persistence.allowsWait ? retryAfter.flatMap { $0 > .zero ? $0 : nil } : nil
    }

    package init(_ refusal: URLRefusal) {
        self.init(.url(refusal.code), "\(refusal)")
    }

    package static func status(_ status: Int, retryAfter: Duration? = nil) -> FetchFailure {
        FetchFailure(.http(status), "the server answered \(status)", retryAfter: retryAfter)
    }

    package static func status(of head: ResponseHead, receivedAt time: Timestamp) -> FetchFailure {
        status(head.status, retryAfter: RetryAfter(head.fields, receivedAt: time)?.delay)
    }

    package static func tooLarge(limit: ByteCount) -> FetchFailure {
        FetchFailure(.tooLarge, "the image is larger than fetch.maxBytes (\(limit))")
    }

    /// There is no room for an image of this size, in bytes.
    package static func overLimit(_ message: String, imageBytes: Int?) -> FetchFailure {
        var failure = FetchFailure(.overLimit, message)
        failure.imageBytes = imageBytes
        return failure
    }

    package static func encoded(_ coding: String) -> FetchFailure {
        FetchFailure(.contentEncoding, "the server encoded the body (\(coding)) although the request did not allow it")
    }

    package static func image(_ rejection: ImageRejection) -> FetchFailure {
        // Another download of a complete file would bring the same bytes.
        let persistence: Persistence? = if case .truncatedAtSource = rejection { .lasting } else { nil }
        return FetchFailure(.image(rejection.code), "\(rejection)", persistence)
    }

    package static func address(_ refusal: AddressPolicy.Refusal, of host: String) -> FetchFailure {
        let isName = !FetchTarget.isNoName(host)
        // Until it is connected, a router may give each name an address of its own.
        var failure = FetchFailure(.addressRefused, refusal.text(for: host), isName ? .momentary : nil)
        // Some networks resolve all names to the address of their login page.
        if case .notPublic(let address, let special) = refusal, special.isNetwork, isName {
            failure.page = Page(address: "\(address)")
        }
        return failure
    }

    /// The same failure; if there was no connection, the message also names an address of the host that was not tried.
    package func leavingOut(_ refusal: AddressPolicy.Refusal, of host: String) -> FetchFailure {
        guard [.fetch(.connect), .fetch(.timeout)].contains(code) else { return self }
        var failure = self
        failure.message += "; an address is left out: \(refusal.text(for: host))"
        return failure
    }

    /// The same failure without a retry, for a URL that contains its image.
    package var forGood: FetchFailure { FetchFailure(code, message, .refused) }

    /// The refusal of a redirect target: not permanent, since the server may redirect elsewhere tomorrow.
    package var inRedirect: FetchFailure { FetchFailure(code, Self.redirected + message, .lasting) }

    /// The beginning of the messages of such refusals.
    static let redirected = "in a redirect: "

    /// The image does not match the digest that its lists give.
    package static let digestMismatch = FetchFailure(
        .digestMismatch, "the image does not have the digest that the list gives (icon_hash)")

    /// The downloaded copy is not the image that the manifest beside it names.
    package static let copyMismatch = FetchFailure(
        .digestMismatch, "the upstream sent another image than its manifest names", .passing)

    /// The login page of a network answers in place of servers.
    package static let networkLogin = FetchFailure(
        .networkLogin, "a network login page answers in place of servers: log in to the network")

    package static func protocolViolation(_ what: String, _ persistence: Persistence? = nil) -> FetchFailure {
        let end = persistence == .passing ? mayPass : ""
        return FetchFailure(.protocolViolation, "the response is not valid HTTP (\(what))\(end)", persistence)
    }

    /// The end of the messages of violations that are retried soon.
    static let mayPass = ", which may be a passing fault"

    package static func timeout(_ limit: String) -> FetchFailure {
        FetchFailure(.timeout, "the server took longer than \(limit)")
    }
}
