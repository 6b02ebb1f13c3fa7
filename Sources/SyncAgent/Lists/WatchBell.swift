// SPDX-License-Identifier: Apache-2.0
package import SyncPlan
import Synchronization

/// Has a watcher asked whether it still watches what is at the folder's path, as soon as there is reason to doubt it.
///
/// A symbolic link that is made to lead elsewhere, or a folder above that is renamed, changes nothing in the folder.
package final class WatchBell: Sendable {
    private struct State {
        /// What was at the path at the last look since the watcher began; `nil` if there was none.
        var folder: FolderIdentity??
        var ask: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    package init() {}

    /// Notes what a look found at the path, and rings if that is not what the look before found.
    package func note(_ folder: FolderIdentity?) {
        state.withLock { state in
            if state.folder != .some(folder) { state.ask?() }
            state.folder = .some(folder)
        }
    }

    /// Has the watcher asked now, so that it is asked as often as the settings say from then on.
    package func ring() {
        state.withLock { $0.ask?() }
    }

    /// Rings at the next look: it is not known which folder a watcher that has just begun watches.
    package func forget() {
        state.withLock { $0.folder = nil }
    }

    /// Is to ask the watcher that has just begun; `nil` if there is none any more.
    func connect(_ ask: (@Sendable () -> Void)?) {
        state.withLock { $0.ask = ask }
    }
}
