// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
import SyncPlan
import Synchronization

/// The space to leave free on the cache's file system, and a recent measurement for callers that need no exact value.
package final class SpaceGauge: Sendable {
    private struct State {
        var reserve: SpaceReserve
        /// `nil` if the file system does not report it.
        var space: DiskSpace?
        var measured: ContinuousClock.Instant?
    }

    /// How long a measurement is valid.
    private static let lifetime: Duration = .milliseconds(100)

    private let state: Mutex<State>

    package init(reserve: SpaceReserve) {
        state = Mutex(State(reserve: reserve))
    }

    var reserve: SpaceReserve { state.withLock(\.reserve) }

    func setReserve(_ reserve: SpaceReserve) { state.withLock { $0.reserve = reserve } }

    func record(_ space: DiskSpace?) { state.withLock { ($0.space, $0.measured) = (space, .now) } }

    /// Whether a recent measurement found space for this many bytes; `false` if there is none.
    func hasRoom(for bytes: Int?) -> Bool {
        let (state, now) = (state.withLock(\.self), ContinuousClock.now)
        guard let measured = state.measured, now - measured < Self.lifetime else { return false }
        return state.space?.shortage(for: bytes, above: state.reserve) == nil
    }
}
