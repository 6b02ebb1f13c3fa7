// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import Fleet
import HTTPRules
import ImageChecks
import SyncPlan

/// The values of labels: none of them is a URL, a host or the name of a list.
enum MetricLabel {
    /// How a download ended.
    enum Outcome: String, CaseIterable, Sendable {
        case downloaded
        case notModified = "not-modified"
        case failed
        case noRoom = "no-room"
        case cancelled
    }

    /// Which rule let a download out.
    enum Origin: String, CaseIterable, Sendable {
        /// A public address, without a proxy.
        case `public`
        /// An address that only `network.allow` or `network.allowHosts` permits.
        case allowed
        case proxied
        /// No server: the URL carries the image.
        case inline
        /// One that `upstream.urls` names.
        case upstream
    }

    /// The place of an upstream in `upstream.urls`.
    static let upstreams = (1...Settings.Upstream.maxCount).map(String.init)

    /// What is requested from an upstream.
    enum UpstreamFile: String, CaseIterable, Sendable {
        case manifest
        /// A list document, or a signature.
        case document
        case icon
    }

    /// What came of a request to an upstream.
    enum UpstreamResult: String, CaseIterable, Sendable {
        case ok
        case notModified = "not-modified"
        /// The file is not there.
        case miss
        /// The upstream refuses this machine.
        case refused
        /// It asks to wait.
        case throttled
        /// It does not answer, or with something else.
        case unavailable
        case cancelled

        init(_ failure: FetchFailure) {
            switch UpstreamVerdict(failure) {
            case .miss: self = .miss
            case .rejected: self = .ok
            case .configuration: self = .refused
            case .wait: self = .throttled
            case .unavailable: self = .unavailable
            case .unknown: self = .cancelled
            }
        }

        init(_ outcome: FetchOutcome) {
            switch outcome {
            case .image: self = .ok
            case .notModified: self = .notModified
            case .failed(let failure): self.init(failure)
            case .noRoom, .cancelled: self = .cancelled
            }
        }
    }

    /// The version of HTTP that all servers of a download answered with.
    enum HTTPVersion: String, CaseIterable, Sendable {
        case http1 = "1.1"
        case http2 = "2"
    }

    enum Publication: String, CaseIterable, Sendable {
        case published
        /// It is in force, but its last flush failed.
        case undurable
        case noRoom = "no-room"
        case failed
    }

    enum Eviction: String, CaseIterable, Sendable {
        /// No list names the image, and no generation that is kept.
        case retired
        case damaged
    }

    enum Release: String, CaseIterable, Sendable {
        /// The grace period is over, and no reader holds a lease.
        case expired
        /// A reader holds a lease that is older than `cache.leaseMax`.
        case leaseExpired = "lease-expired"
    }

    enum Verdict: String, CaseIterable, Sendable {
        case accepted, rejected
    }

    /// Why a parser process gave no verdict on a list.
    enum ParserFailure: String, CaseIterable, Sendable {
        case died, killed, failed, timeout, nonsense, unavailable

        /// `nil` for a verdict on the list itself.
        init?(_ rejection: ListRejection.Code) {
            switch rejection {
            case .parserDied: self = .died
            case .parserKilled: self = .killed
            case .parserFailed: self = .failed
            case .parserTimeout: self = .timeout
            case .parserNonsense: self = .nonsense
            case .parserUnavailable: self = .unavailable
            default: return nil
            }
        }
    }

    enum Method: String, CaseIterable, Sendable {
        case get, post, other
    }

    enum Status: String, CaseIterable, Sendable {
        case success = "2xx"
        case redirect = "3xx"
        case refused = "4xx"
        case failed = "5xx"

        init(_ status: Int) {
            switch status {
            case ..<300: self = .success
            case ..<400: self = .redirect
            case ..<500: self = .refused
            default: self = .failed
            }
        }
    }

    /// The code of a failed download, with one value for all HTTP statuses of a class.
    static func code(of failure: FetchFailure.Code) -> String {
        guard case .http(let status) = failure else { return failure.rawValue }
        return (300..<600).contains(status) ? "http-\(status / 100)xx" : "http-other"
    }

    static let failureCodes: [String] = {
        let codes =
            ["http-3xx", "http-4xx", "http-5xx", "http-other"] + FetchFailure.Cause.allCases.map(\.rawValue)
            + ImageRejection.Code.allCases.map(\.rawValue) + URLRefusal.Code.allCases.map(\.rawValue)
        return Set(codes).sorted()
    }()
}
