// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// The progress or result of the last purge.
package struct PurgeReport: Codable, Equatable, Sendable {
    package enum State: String, CaseIterable, Codable, Sendable {
        case done
        case underWay = "under-way"
        /// Nothing was forgotten or removed.
        case refused
        /// The agent forgot everything, but could not remove every file.
        case failed
    }

    package var state: State
    /// The reason for a failure, as a clause.
    package var reason: String?
    package var files: Int

    package init(_ state: State, reason: String? = nil, files: Int = 0) {
        (self.state, self.reason, self.files) = (state, reason, files)
    }

    package var sentence: String {
        let reason = reason ?? "the reason is not known"
        return switch state {
        case .done: "Purged: everything is downloaded again. Images that a reader leases stay until the lease ends."
        case .underWay: "The purge is still running."
        case .refused: "Not purged: \(reason)."
        case .failed where files > 0: "Partly purged: \(counted(files, "file")) could not be removed (\(reason))."
        case .failed: "Partly purged: \(reason). All icons are downloaded again; old files are removed later."
        }
    }
}
