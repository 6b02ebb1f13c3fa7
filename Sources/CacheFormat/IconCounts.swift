// SPDX-License-Identifier: Apache-2.0

/// How many icons are ready, pending and failed.
package struct IconCounts: Equatable, Sendable {
    package private(set) var ready = 0
    package private(set) var pending = 0
    package private(set) var failed = 0

    package var total: Int { ready + pending + failed }

    package init() {}

    package init(_ states: some Sequence<AppListDocument.State>) {
        for state in states { add(state.status) }
    }

    /// Adds to the number of icons with a status; a negative number subtracts.
    package mutating func add(_ status: AppListDocument.Status, times: Int = 1) {
        switch status {
        case .ready: ready += times
        case .pending: pending += times
        case .failed: failed += times
        }
    }

    package static func + (a: IconCounts, b: IconCounts) -> IconCounts {
        var sum = a
        sum.add(.ready, times: b.ready)
        sum.add(.pending, times: b.pending)
        sum.add(.failed, times: b.failed)
        return sum
    }
}

extension AppListDocument {
    /// The `status` of an entry: its ``State`` without the image or the error.
    package enum Status: String, Sendable {
        case ready, pending, failed
    }
}

extension AppListDocument.State {
    package var status: AppListDocument.Status {
        switch self {
        case .ready: .ready
        case .pending: .pending
        case .failed: .failed
        }
    }
}

extension Manifest.List {
    /// Summarizes a list document; `sha256` is the digest of its text.
    package init(_ document: AppListDocument, sha256: Digest) {
        let counts = IconCounts(document.apps.indices.lazy.map { document.apps[$0].state })
        self.init(
            sha256: sha256, apps: counts.total, ready: counts.ready, pending: counts.pending, failed: counts.failed)
    }
}
