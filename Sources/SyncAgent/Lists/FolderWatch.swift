// SPDX-License-Identifier: Apache-2.0
import Logging
import SyncPlan
import Synchronization

/// What is known of how the lists folder is being watched; what changes for the worse is logged.
package final class FolderWatch: Sendable {
    package struct State: Sendable {
        /// What is wrong with the watch.
        fileprivate var trouble: WatchTrouble?
        /// What the folder's file system does not tell, however well it is watched.
        fileprivate var blindness: WatchTrouble?
        /// Why lists could not be read at the last look, which is nothing that is wrong with them.
        fileprivate var shortage: String?
        package fileprivate(set) var overflows = 0

        package var mode: String { (trouble ?? blindness) == nil ? "inotify" : "polling" }
        /// Why lists are not read, or why the folder is not watched through inotify, or not through that alone.
        package var reason: String? { shortage ?? (trouble ?? blindness)?.reason }
    }

    /// Has the watcher asked whether it watches what is at the folder's path.
    let bell = WatchBell()
    private let current = Mutex(State())
    private let logger: Logger
    private let metrics: AgentMetrics

    init(logger: Logger, metrics: AgentMetrics) {
        (self.logger, self.metrics) = (logger, metrics)
    }

    var state: State { current.withLock(\.self) }

    /// - Returns: Whether the folder is to be looked at for it. A watch that fails again and again is no reason to: there is
    ///   polling for that, at its own pace.
    func note(_ signal: WatchSignal) -> Bool {
        metrics.note(signal)
        switch signal {
        case .ready:
            current.withLock { $0.trouble = nil }
            // It may have begun with another folder than the next look finds.
            bell.forget()
        case .changed: break
        case .overflow:
            current.withLock { $0.overflows += 1 }
            logger.notice("inotify queue overflow: rescanning the lists folder")
        case .lost(let reason): return change { $0.trouble = .lost(reason) }
        case .refused(let errno): return change { $0.trouble = .refused(errno: errno) }
        case .died(let reason): return change { $0.trouble = .died(reason) }
        }
        return true
    }

    func note(_ look: ListScanner.Look) {
        if case .listed(let folder, _, _) = look.scan {
            change { $0.blindness = look.trouble }
            // If another folder is at the path than at the last look, the watcher is asked at once: no event tells it.
            bell.note(folder.identity)
        } else {
            bell.note(nil)
        }
        note(shortage: look.shortage)
    }

    func note(shortage reason: String?) {
        let isNew = current.withLock { state in
            defer { state.shortage = reason }
            return state.shortage != reason
        }
        guard isNew else { return }
        guard let reason else { return logger.notice("lists can be read again") }
        logger.error("reading lists is suspended", metadata: ["reason": "\(reason)"])
    }

    /// Changes how the folder is watched, and logs it if it is polled for another reason than before.
    ///
    /// - Returns: Whether it is.
    @discardableResult
    private func change(_ change: (inout State) -> Void) -> Bool {
        let reason = current.withLock { state in
            let before = state.reason
            change(&state)
            return state.reason == before ? nil : state.reason
        }
        if let reason { logger.warning("polling the lists folder", metadata: ["reason": "\(reason)"]) }
        return reason != nil
    }
}
