// SPDX-License-Identifier: Apache-2.0
package import AppLists
import CacheFormat
package import ImageChecks

extension FetchFailure {
    /// A stable word for scripts: `http-404`, `timeout`, `not-an-image`.
    ///
    /// The article Codes lists them all.
    package enum Code: Hashable, Sendable {
        case fetch(Cause)
        /// The server answered with this status, from 100 to 999: `http-404`.
        case http(Int)
        case image(ImageRejection.Code)
        /// The icon's URL, or the target of a redirect, is refused before any request.
        case url(URLRefusal.Code)
    }

    /// Causes other than the URL, the status and the image.
    package enum Cause: String, CaseIterable, Sendable {
        case addressRefused = "address-refused"
        case authRefused = "auth-refused"
        case badRedirect = "bad-redirect"
        case connect
        case connectionClosed = "connection-closed"
        case contentEncoding = "content-encoding"
        case cutShort = "cut-short"
        case digestMismatch = "digest-mismatch"
        case disk
        case dns
        case downgradeRefused = "downgrade-refused"
        case networkLogin = "network-login"
        case notInRepository = "not-in-repository"
        case protocolViolation = "protocol"
        case overLimit = "over-limit"
        case redirectLoop = "redirect-loop"
        case timeout
        case tls
        case tooLarge = "too-large"
        case tooManyRedirects = "too-many-redirects"
    }
}

extension FetchFailure.Code {
    /// What a code alone says of a failure.
    private struct Traits {
        var persistence: FetchFailure.Persistence
        var isNoAnswer = false
        /// Networks that want a login may redirect requests, or answer them with a page.
        var mayBeLogin = false
        var dependsOnSettings = false
    }

    private var traits: Traits {
        switch self {
        case .fetch(.connect), .fetch(.connectionClosed), .fetch(.dns), .fetch(.timeout):
            Traits(persistence: .passing, isNoAnswer: true)
        case .fetch(.protocolViolation): Traits(persistence: .lasting, isNoAnswer: true)
        // A bad certificate affects all icons of an origin, and they should return soon after it is replaced, not hours
        // later.
        case .fetch(.tls): Traits(persistence: .passing, isNoAnswer: true, dependsOnSettings: true)
        case .fetch(.disk), .fetch(.networkLogin): Traits(persistence: .passing)
        // A redirect to a login page may lead to an address that the agent refuses.
        case .fetch(.addressRefused), .fetch(.downgradeRefused), .fetch(.tooManyRedirects):
            Traits(persistence: .lasting, mayBeLogin: true, dependsOnSettings: true)
        // A redirect to a login page may lead in a circle, or to a text that is no URL.
        case .fetch(.badRedirect), .fetch(.redirectLoop): Traits(persistence: .lasting, mayBeLogin: true)
        // Pages are compressed more often than images, and may be cut off before they can be inspected.
        case .fetch(.contentEncoding), .fetch(.cutShort): Traits(persistence: .lasting, mayBeLogin: true)
        case .fetch(.digestMismatch): Traits(persistence: .lasting)
        case .fetch(.tooLarge): Traits(persistence: .lasting, dependsOnSettings: true)
        case .fetch(.authRefused): Traits(persistence: .forbidden, dependsOnSettings: true)
        case .fetch(.notInRepository), .fetch(.overLimit): Traits(persistence: .refused, dependsOnSettings: true)
        // 401 and 407: the server or the proxy may accept other credentials. 511: a network wants a login (RFC 6585,
        // section 6).
        case .http(let status):
            Traits(
                persistence: FetchFailure.Persistence(ofStatus: status), mayBeLogin: status == 511,
                dependsOnSettings: status == 401 || status == 407)
        // For a body without a length, this is the only sign that it was cut off.
        case .image(.truncated): Traits(persistence: .passing)
        // SVG is rejected as no image unless `images.allowSVG` is set.
        case .image(.notAnImage): Traits(persistence: .lasting, mayBeLogin: true, dependsOnSettings: true)
        case .image(.tooLarge): Traits(persistence: .lasting, dependsOnSettings: true)
        case .image(.damaged), .image(.unsafe): Traits(persistence: .lasting)
        case .url(.badURL): Traits(persistence: .refused, mayBeLogin: true)
        case .url(.hostRefused), .url(.portRefused), .url(.schemeRefused), .url(.userInfoRefused):
            Traits(persistence: .refused, mayBeLogin: true, dependsOnSettings: true)
        }
    }

    /// The usual persistence of the cause.
    package var persistence: FetchFailure.Persistence { traits.persistence }

    /// Whether there was no response, or no valid one.
    package var isNoAnswer: Bool { traits.isNoAnswer }

    /// Whether the cause may be a network that wants a login, instead of the server.
    package var mayBeLogin: Bool { traits.mayBeLogin }

    /// Whether other settings or certificates may allow the icon, so that it is checked again at each start and reload.
    package var dependsOnSettings: Bool { traits.dependsOnSettings }

    /// Whether the persistence depends on the response: lasting if it was complete, transient if it could have been cut
    /// off.
    package var dependsOnLength: Bool { self == .image(.truncated) }

    /// Whether setting the system's clock may end the failure: a certificate was not valid yet, or no longer.
    package var dependsOnClock: Bool { self == .fetch(.tls) }

    /// Whether requests that are made in another way may end the failure, such as with longer limits.
    ///
    /// `haveOtherSender` says that the proxy or the `User-Agent` is another one, to which some servers answer 403 or 406.
    package func dependsOnRequests(haveOtherSender: Bool) -> Bool {
        isNoAnswer || haveOtherSender && (self == .http(403) || self == .http(406))
    }
}

extension FetchFailure.Code: RawRepresentable, CustomStringConvertible {
    private static let statuses = 100...999
    private static let statusPrefix = "http-"

    package var rawValue: String {
        switch self {
        case .fetch(let cause): cause.rawValue
        case .http(let status): "\(Self.statusPrefix)\(status)"
        case .image(let code): code.rawValue
        case .url(let code): code.rawValue
        }
    }

    /// Parses a code; `nil` if this version does not know it.
    package init?(rawValue text: String) {
        if let cause = FetchFailure.Cause(rawValue: text) {
            self = .fetch(cause)
        } else if let code = ImageRejection.Code(rawValue: text) {
            self = .image(code)
        } else if let code = URLRefusal.Code(rawValue: text) {
            self = .url(code)
        } else if text.starts(withBytes: Self.statusPrefix),
            let status = Int(text.dropping(bytes: Self.statusPrefix.utf8.count)),
            Self.statuses.contains(status), text == "\(Self.statusPrefix)\(status)"
        {
            self = .http(status)
        } else {
            return nil
        }
    }

    package var description: String { rawValue }
}
