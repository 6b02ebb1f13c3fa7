// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import SyncPlan

/// Why there was no answer, or not the one that was wanted.
enum Fault: UInt8 {
    case connection, silence, missing, badGateway, gatewayTimeout

    var failure: FetchFailure {
        switch self {
        case .connection: Self.refused
        case .silence: Self.timeout
        case .missing: Self.notFound
        case .badGateway: Self.status502
        case .gatewayTimeout: Self.status504
        }
    }

    private static let refused = FetchFailure(.connect, "connection refused")
    private static let timeout = FetchFailure.timeout("5 s")
    private static let notFound = FetchFailure.status(404)
    private static let status502 = FetchFailure.status(502)
    private static let status504 = FetchFailure.status(504)
}

/// What comes of a request, and when.
struct Reply {
    var end: Timestamp
    var fault: Fault?
    /// The number of the copy whose manifest came.
    var copy = 0
}

/// A generation of the seeder, as it is at the upstream.
struct Copy {
    let manifest: Manifest
    let bytes: [UInt8]
    let digest: Digest
    let documents: [Digest: AppListDocument]
    /// Since when it is there.
    let since: Timestamp

    init(_ manifest: Manifest, documents: [Digest: AppListDocument], since: Timestamp) {
        (self.manifest, self.documents, self.since) = (manifest, documents, since)
        bytes = manifest.text
        digest = Digest.of(bytes)
    }
}

/// The upstream's server: a folder that the seeder's generations are copied to.
struct Server {
    /// How long a request to it takes.
    static let latency: Duration = .milliseconds(30)

    private let scenario: Scenario
    private let outage: Range<Timestamp>
    private(set) var copies: [Copy] = []
    /// Since when each file is there.
    private var files: [Digest: Timestamp] = [:]
    private(set) var requests: Rates

    init(_ scenario: Scenario, from zero: Timestamp) {
        self.scenario = scenario
        outage = zero + scenario.outageTimes.lowerBound..<zero + scenario.outageTimes.upperBound
        requests = Rates(from: zero, for: scenario.end)
    }

    /// A generation is there from now on.
    mutating func add(_ copy: Copy) {
        copies.append(copy)
        for digest in copy.documents.keys where files[digest] == nil { files[digest] = copy.since }
        for app in copy.documents.values.flatMap(\.apps) {
            if case .ready(let image) = app.state, files[image.sha256] == nil {
                files[image.sha256] = copy.since + scenario.imageDelay
            }
        }
    }

    mutating func manifest(at now: Timestamp) -> Reply {
        requests.count(at: now)
        if let reply = outageReply(at: now) { return reply }
        let end = now + Self.latency
        guard let copy = copies.lastIndex(where: { $0.since <= now }) else { return Reply(end: end, fault: .missing) }
        return Reply(end: end, copy: copy)
    }

    mutating func file(_ digest: Digest, at now: Timestamp) -> Reply {
        requests.count(at: now)
        if let reply = outageReply(at: now) { return reply }
        let isThere = files[digest].map { $0 <= now } ?? false
        return Reply(end: now + Self.latency, fault: isThere ? nil : .missing)
    }

    private func outageReply(at now: Timestamp) -> Reply? {
        guard let kind = scenario.outage, outage.contains(now) else { return nil }
        return switch kind {
        case .refuses: Reply(end: now + Self.latency, fault: .connection)
        // Caches wait that long.
        case .hangs: Reply(end: now + .seconds(60), fault: .silence)
        }
    }
}
