// SPDX-License-Identifier: Apache-2.0

/// Why an icon could not be fetched.
package struct FetchFailure: Error, Equatable, Sendable {
    /// How long the cause is likely to last, which decides when to ask again.
    package enum Persistence: String, Sendable {
        /// The network, an overloaded server: it may be over in a second.
        case passing
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

    package init(_ code: String, _ message: String, _ persistence: Persistence) {
        self.code = code
        self.message = message
        self.persistence = persistence
    }
}

extension FetchFailure {
    /// A status other than the wanted ones.
    package static func status(_ status: Int) -> FetchFailure {
        let persistence: Persistence =
            switch status {
            case 408, 425, 429, 500, 502, 503, 504: .passing
            case 401, 403: .forbidden
            case 410: .gone
            default: .lasting
            }
        return FetchFailure("http-\(status)", "the server answered \(status)", persistence)
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

    package static func address(_ refusal: AddressPolicy.Refusal) -> FetchFailure {
        FetchFailure("address-refused", "\(refusal)", .lasting)
    }

    package static func timeout(_ limit: String) -> FetchFailure {
        FetchFailure("timeout", "the server took longer than \(limit)", .passing)
    }
}
