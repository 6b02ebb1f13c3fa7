// SPDX-License-Identifier: Apache-2.0
package import SyncPlan
import Synchronization

/// Makes the watcher check that it still watches the folder at the path, whenever that is in doubt.
///
/// A retargeted symbolic link or a renamed parent folder causes no event in the folder.
package final class WatchBell: Sendable {
    private struct State {
        /// The folder at the path at the last look; inner `nil` if there was no folder, outer `nil` if there was no
        /// look since the watcher started.
        var folder: FolderIdentity??
        var ask: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    package init() {}

    /// Records the folder found at the path; asks the watcher if it differs from the last one.
    package func note(_ folder: FolderIdentity?) {
        state.withLock { state in
            if state.folder != .some(folder) { state.ask?() }
            state.folder = .some(folder)
        }
    }

    /// Asks the watcher now; a new interval applies from its answer on.
    package func ring() {
        state.withLock { $0.ask?() }
    }

    /// Forgets the last look, so that the next one asks: a new watcher may watch another folder.
    package func forget() {
        state.withLock { $0.folder = nil }
    }

    /// Sets how to ask the current watcher; `nil` if there is none.
    func connect(_ ask: (@Sendable () -> Void)?) {
        state.withLock { $0.ask = ask }
    }
}
