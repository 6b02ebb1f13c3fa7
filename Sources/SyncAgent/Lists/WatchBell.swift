// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Makes the watcher check at once that it still watches the folder at the path.
package final class WatchBell: Sendable {
    private let ask = Mutex<(@Sendable () -> Void)?>(nil)

    package init() {}

    /// Asks the current watcher, if there is one; a new interval between questions applies from its answer on.
    package func ring() { ask.withLock { $0?() } }

    /// Sets the function that asks the current watcher; `nil` if there is none.
    func connect(_ ask: (@Sendable () -> Void)?) { self.ask.withLock { $0 = ask } }
}
