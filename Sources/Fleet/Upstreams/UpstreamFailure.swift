// SPDX-License-Identifier: Apache-2.0
import CacheFormat
package import HTTPRules

/// The reason why an upstream cannot be used, or its manifest is not accepted.
package struct UpstreamFailure: Error, Equatable, Sendable {
    package enum Refusal: String, CaseIterable, Sendable {
        /// The manifest was published more than 1 h ahead of this machine's clock.
        case ahead = "manifest-ahead"
        /// Two different manifests have the same generation and time.
        case conflict = "manifest-conflict"
        /// The response is not a manifest, or a file that it names is not a document.
        case damaged = "manifest-damaged"
        /// A document that the manifest names is missing, or has another digest.
        case incomplete = "manifest-incomplete"
        /// The manifest is older than the one accepted before.
        case rollback = "manifest-rollback"
        /// No key of `upstream.publicKeys` signed the manifest.
        case signature = "manifest-signature"
    }

    package enum Cause: Equatable, Sendable {
        case request(FetchFailure)
        case refusal(Refusal)
        /// This machine lacks the memory or descriptors for the request.
        case agent
    }

    package var cause: Cause
    /// The failure, as a clause about the upstream.
    package var message: String

    package init(_ refusal: Refusal, _ message: String) {
        cause = .refusal(refusal)
        // Parts of the text come from the upstream. It is cut by bytes, because one Character may hold megabytes.
        self.message = message.prefix(bytes: 300)
    }

    package init(_ failure: FetchFailure) {
        cause = .request(failure)
        message = failure.message
    }

    package init(agent message: String) {
        cause = .agent
        self.message = message
    }

    package var code: String {
        switch cause {
        case .request(let failure): failure.code.rawValue
        case .refusal(let refusal): refusal.rawValue
        case .agent: "out-of-resources"
        }
    }
}

extension FormatError {
    var clause: String {
        switch self {
        case .damaged(let reason): "\(reason); the server may have sent another page"
        case .unknownFormat(let format): "it has the format \(format), of a later version"
        }
    }
}

/// The consequence of a failed request for the upstream; it determines the next request.
package enum UpstreamVerdict: Equatable, Sendable {
    /// The upstream does not have the file (404, 403, 410).
    case miss
    /// The file is the image that the manifest names, but is not accepted here.
    case rejected
    /// The upstream refuses this machine (401, 407), or the settings refuse its address: a configuration must be changed.
    case configuration
    /// The upstream asks the client to wait (429, 503 with `Retry-After`).
    case wait(Duration)
    /// The upstream does not answer, or not with the file: the circuit breaker counts a failure.
    case unavailable
    case unknown

    package init(_ failure: FetchFailure) {
        self =
            switch failure.code {
            case .http(403), .http(404), .http(410): .miss
            case .http(401), .http(407), .url, .fetch(.addressRefused): .configuration
            case .http(429), .http(503):
                failure.retryAfter.map { $0 > .zero ? .wait($0) : .unavailable } ?? .unavailable
            case .fetch(.disk): .unknown
            case .image, .fetch(.tooLarge): .rejected
            case .http, .fetch: .unavailable
            }
    }
}
