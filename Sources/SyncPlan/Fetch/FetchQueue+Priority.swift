// SPDX-License-Identifier: Apache-2.0
package import HTTPRules

extension FetchReason {
    package var priority: FetchQueue.Priority {
        switch self {
        case .notCached, .missingOnDisk: .new
        case .expired: .refresh
        case .retry: .retry
        }
    }
}
