// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import Fleet
import HTTPRules
import ImageChecks

/// The label values; none of them is a URL, a host or the name of a list.
enum MetricLabel {
    enum Outcome: String, CaseIterable, Sendable {
        case downloaded
        case notModified = "not-modified"
        case failed
        case noRoom = "no-room"
        case cancelled
    }

    /// The rule that permitted the address of a download.
    enum Origin: String, CaseIterable, Sendable {
        /// A public address, without a proxy.
        case `public`
        /// An address that only `network.allow` or `network.allowHosts` permits.
        case allowed
        case proxied
        /// No server: the URL contains the image.
        case inline
        /// A server in `upstream.urls`.
        case upstream
    }

    /// The places in `upstream.urls`, from 1.
    static let upstreams = (1...Settings.Upstream.maxCount).map(String.init)

    enum UpstreamFile: String, CaseIterable, Sendable {
        case manifest
        /// A list document or a signature.
        case document
        case icon
    }

    enum UpstreamResult: String, CaseIterable, Sendable {
        case ok
        case notModified = "not-modified"
        case miss
        case refused
        case throttled
        /// The upstream sends no answer, or no valid one.
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

    enum Publication: String, CaseIterable, Sendable {
        case published
        /// The generation is in force, but its last flush failed.
        case undurable
        case noRoom = "no-room"
        case failed
    }

    enum Eviction: String, CaseIterable, Sendable {
        /// Neither a list nor a kept generation names the image.
        case retired
        case damaged
    }

    enum Release: String, CaseIterable, Sendable {
        /// The grace period is over, and no reader holds a lease.
        case expired
        /// A reader holds a lease older than `cache.leaseMax`.
        case leaseExpired = "lease-expired"
    }

    static let parserFailures = ListRejection.Code.allCases.compactMap(parserFailure)

    /// The label of a rejection, such as `died` of `parser-died`; `nil` if it is a verdict on the list itself.
    static func parserFailure(_ code: ListRejection.Code) -> String? {
        let parts = code.rawValue.split(atByte: "-", maxSplits: 1)
        return parts.first == "parser" ? parts.last : nil
    }

    /// The code of a failed download, with one value per class of HTTP status.
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
