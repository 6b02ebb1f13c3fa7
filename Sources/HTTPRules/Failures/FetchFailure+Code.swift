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

extension FetchFailure.Cause {
    /// Whether there was no response, or no valid one.
    package var isNoAnswer: Bool {
        switch self {
        case .connect, .connectionClosed, .dns, .protocolViolation, .timeout, .tls: true
        case .addressRefused, .authRefused, .badRedirect, .contentEncoding, .cutShort, .digestMismatch, .disk,
            .downgradeRefused, .networkLogin, .notInRepository, .overLimit, .redirectLoop, .tooLarge, .tooManyRedirects:
            false
        }
    }
}

extension FetchFailure.Code {
    /// The usual persistence of the cause.
    package var persistence: FetchFailure.Persistence {
        switch self {
        case .http(let status): FetchFailure.Persistence(ofStatus: status)
        case .url, .fetch(.notInRepository), .fetch(.overLimit): .refused
        // A bad certificate affects all icons of an origin, and they should return soon after it is replaced, not hours
        // later.
        case .fetch(.connect), .fetch(.connectionClosed), .fetch(.disk), .fetch(.dns), .fetch(.networkLogin),
            .fetch(.timeout), .fetch(.tls):
            .passing
        case .fetch(.authRefused): .forbidden
        case .fetch(.addressRefused), .fetch(.badRedirect), .fetch(.contentEncoding), .fetch(.cutShort),
            .fetch(.digestMismatch), .fetch(.downgradeRefused), .fetch(.protocolViolation), .fetch(.redirectLoop),
            .fetch(.tooLarge),
            .fetch(.tooManyRedirects):
            .lasting
        // For a body without a length, this is the only sign that it was cut off.
        case .image(.truncated): .passing
        case .image(.damaged), .image(.notAnImage), .image(.tooLarge), .image(.unsafe): .lasting
        }
    }

    /// Whether the persistence depends on the response: lasting if it was complete, transient if it could have been cut
    /// off.
    package var dependsOnLength: Bool { self == .image(.truncated) }

    /// Whether the cause may be a network that wants a login, instead of the server (RFC 6585, section 6, for 511).
    package var mayBeLogin: Bool {
        switch self {
        case .image(.notAnImage), .http(511): true
        // The login page that a redirect leads to may be at an address that the agent refuses.
        case .fetch(.addressRefused), .fetch(.badRedirect), .fetch(.downgradeRefused), .fetch(.redirectLoop),
            .fetch(.tooManyRedirects), .url:
            true
        // Pages are compressed more often than images.
        case .fetch(.contentEncoding): true
        // A page that is cut off before it can be inspected.
        case .fetch(.cutShort): true
        case .fetch, .http, .image: false
        }
    }

    /// Whether setting the system's clock may end the failure: a certificate was not valid yet, or no longer.
    package var dependsOnClock: Bool { self == .fetch(.tls) }

    /// Whether other settings or certificates may allow the icon, so that it is checked again at each start and reload.
    package var dependsOnSettings: Bool {
        switch self {
        case .fetch(.addressRefused), .fetch(.authRefused), .fetch(.downgradeRefused),
            .fetch(.notInRepository), .fetch(.overLimit), .fetch(.tls), .fetch(.tooLarge), .fetch(.tooManyRedirects):
            true
        case .fetch(.badRedirect), .fetch(.connect), .fetch(.connectionClosed), .fetch(.contentEncoding),
            .fetch(.cutShort), .fetch(.digestMismatch), .fetch(.disk), .fetch(.dns), .fetch(.networkLogin),
            .fetch(.protocolViolation), .fetch(.redirectLoop), .fetch(.timeout):
            false
        // The server or the proxy may accept other credentials.
        case .http(let status): status == 401 || status == 407
        // SVG is rejected as no image unless `images.allowSVG` is set.
        case .image(.notAnImage), .image(.tooLarge): true
        case .image(.damaged), .image(.truncated), .image(.unsafe): false
        case .url(.hostRefused), .url(.portRefused), .url(.schemeRefused), .url(.userInfoRefused): true
        case .url(.badURL): false
        }
    }

    /// Whether requests that are made in another way may end the failure, such as with longer limits.
    ///
    /// `haveOtherSender` says that the proxy or the `User-Agent` is another one, to which some servers answer 403 or 406.
    package func dependsOnRequests(haveOtherSender: Bool) -> Bool {
        switch self {
        case .fetch(let cause): cause.isNoAnswer
        case .http(let status): haveOtherSender && (status == 403 || status == 406)
        case .image, .url: false
        }
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
