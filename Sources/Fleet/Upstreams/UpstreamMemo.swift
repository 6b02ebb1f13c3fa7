// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The last accepted manifest of an upstream, stored across restarts so that no older one is accepted.
package struct UpstreamMemo: Codable, Hashable, Sendable {
    /// How far ahead of this machine's clock a manifest may be.
    package static let tolerance: Duration = .seconds(3600)

    package var url: String
    package var published: Timestamp
    package var generation: Int
    package var sha256: Digest

    func validate(_ new: UpstreamMemo) throws(UpstreamFailure) {
        let order = ManifestOrder(
            (new.published, new.generation), after: (published, generation), isSameText: new.sha256 == sha256)
        switch order {
        case .same, .newer: return
        case .older:
            throw UpstreamFailure(
                .rollback,
                "it has generation \(new.generation) of \(new.published), older than \(generation) of \(published)")
        case .conflict:
            throw UpstreamFailure(.conflict, "it has another manifest than before for generation \(generation)")
        }
    }

    func isAhead(of now: Timestamp) -> Bool { published > now + Self.tolerance }

    /// Refuses a manifest from the future: once accepted, it would block all manifests that follow.
    func validate(at now: Timestamp) throws(UpstreamFailure) {
        guard isAhead(of: now) else { return }
        throw UpstreamFailure(
            .ahead, "its manifest was published at \(published), more than 1 h ahead of this machine's clock")
    }
}
