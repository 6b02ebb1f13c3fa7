// SPDX-License-Identifier: Apache-2.0

/// What a try to lock the file of a superseded generation tells of leases on it.
package enum LeaseTest: Equatable, Sendable {
    /// No reader holds one, as far as the file system shows.
    case free
    /// A reader holds one.
    case held
    /// Files cannot be locked here, now or later.
    case untestable
    /// The try failed for a reason that may pass.
    case failed
}

/// What is done with a superseded generation after such a try.
package enum ReleaseDecision: Equatable, Sendable {
    case remove
    /// No lease is valid for so long.
    case removeDespiteLease
    /// A reader holds a lease, or may hold one: it is tried again soon.
    case keep
    /// Nothing is known: it is tried again as what cannot be removed is.
    case fail
}

extension GenerationRelease {
    /// What is done with the generation.
    ///
    /// Where a lease may be unseen, the generation has its whole grace, also if it was ended by hand: nothing else protects
    /// those who read it.
    ///
    /// - Parameters:
    ///   - test: What came of the try to lock its file.
    ///   - seesAllLeases: Whether the try is certain to meet the lease of every reader, on any host.
    /// - Returns: The decision.
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

/// Why leases of readers may be unseen, so that only the grace period protects what they read.
package enum LeaseDoubt: Equatable, Sendable {
    /// Other hosts can have the files; whether their locks are seen here depends on versions, options and servers.
    case remote(fileSystem: String)
    /// The file system refused a lock; why, in words.
    case refused(String)

    /// The doubt about a file system.
    ///
    /// - Parameter magic: The number of its kind (statfs(2)).
    /// - Returns: `nil` if there is none.
    package static func of(fileSystem magic: UInt32) -> LeaseDoubt? {
        RemoteFileSystem.name(of: magic).map { .remote(fileSystem: $0) }
    }

    /// What there is to say, and what to do.
    package var reason: String {
        let cause =
            switch self {
            case .remote(let fileSystem): "the cache is on \(fileSystem)"
            case .refused(let error): "the file system of the cache refuses locks (\(error))"
            }
        return "\(cause): set cache.grace to 1h or more if other hosts read it"
    }
}
