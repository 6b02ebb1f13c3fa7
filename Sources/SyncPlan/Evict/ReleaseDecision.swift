// SPDX-License-Identifier: Apache-2.0
import AppLists

/// The result of trying to lock a superseded generation's file, which shows whether readers hold leases.
package enum LeaseTest: Equatable, Sendable {
    /// No reader holds a lease, as far as the file system shows.
    case free
    case held
    /// Files cannot be locked here, now or later.
    case untestable
    case failed
}

package enum ReleaseDecision: Equatable, Sendable {
    case remove
    /// The lease is too old to be valid.
    case removeDespiteLease
    /// A reader holds a lease, or may hold one: retry soon.
    case keep
    /// Unknown: retry later, like other failed removals.
    case fail
}

extension GenerationRelease {
    /// Decides whether to release the generation.
    ///
    /// Where a lease may be invisible, only the grace period protects its reader. So the full grace period applies,
    /// even if a user waived it. `seesAllLeases` tells that the test detects the lease of every reader, on any host.
    package func decision(after test: LeaseTest, seesAllLeases: Bool) -> ReleaseDecision {
        let isDue = isPastGrace || ignoresLeases
        return switch test {
        case .free: isDue || seesAllLeases ? .remove : .keep
        case .untestable: isDue ? .remove : .keep
        case .held: ignoresLeases ? .removeDespiteLease : .keep
        case .failed: ignoresLeases ? .removeDespiteLease : .fail
        }
    }
}

/// Why readers' leases may be invisible, so that only the grace period protects what they read.
package enum LeaseDoubt: Equatable, Sendable {
    /// Other hosts can access the files; whether their locks are visible depends on versions, options and servers.
    case remote(fileSystem: String)
    case refused(String)

    /// The doubt about a file system of this type (statfs(2)); `nil` if there is none.
    package static func of(fileSystem magic: UInt32) -> LeaseDoubt? {
        RemoteFileSystem.name(of: magic).map { .remote(fileSystem: $0) }
    }

    /// The cause, and what to do.
    package var reason: String {
        let cause =
            switch self {
            case .remote(let fileSystem): "the cache is on \(fileSystem)"
            case .refused(let error): "the file system of the cache refuses locks (\(error))"
            }
        return "\(cause): set cache.grace to 1h or more if other hosts read it"
    }
}
