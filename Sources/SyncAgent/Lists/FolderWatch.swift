// SPDX-License-Identifier: Apache-2.0
import AppLists
import Logging
package import Reports
import Synchronization

/// The state of the watch on the lists folder; logs when it gets worse.
package final class FolderWatch: Sendable {
    package struct State: Sendable {
        fileprivate var trouble: WatchTrouble?
        /// The reason why the folder's file system does not report all changes.
        fileprivate var blindness: WatchTrouble?
        /// The reason why the agent could not read lists in the last scan, such as a lack of memory; not a fault of the
        /// lists.
        fileprivate var shortage: String?
        package fileprivate(set) var overflows = 0
        /// The folder at the path in the last scan; inner `nil` if there was none, outer `nil` if there was no scan
        /// since the watcher started.
        fileprivate var folder: FolderIdentity??

        package var mode: StatusReport.Watch.Mode { (trouble ?? blindness) == nil ? .inotify : .polling }
        /// The reason why lists are not read, or why polling replaces or supplements inotify.
        package var reason: String? { shortage ?? (trouble ?? blindness)?.reason }
    }

    /// Makes the watcher check that it still watches the folder at the path.
    let bell = WatchBell()
    private let current = Mutex(State())
    private let logger: Logger
    private let metrics: AgentMetrics

    init(logger: Logger, metrics: AgentMetrics) {
        (self.logger, self.metrics) = (logger, metrics)
    }

    var state: State { current.withLock(\.self) }

    /// Records a signal of the watcher.
    ///
    /// - Returns: Whether the folder should be scanned. A watch that fails again and again is no reason for a scan:
    ///   polling finds the changes at its own pace.
    func record(_ signal: WatchSignal) -> Bool {
        if signal.isLast { metrics.recordWatcherFailure() }
        switch signal {
        case .ready:
            // The new watch may be on another folder than the next scan finds.
            let wasLost = current.withLock { state in
                defer { (state.trouble, state.folder) = (nil, nil) }
                return state.trouble != nil
            }
            if wasLost { logger.notice("inotify watches the lists folder again") }
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

    func record(_ outcome: ListScanner.Outcome) {
        var folder: FolderIdentity?
        if case .listed(let listed, _, _) = outcome.scan {
            change { $0.blindness = outcome.trouble }
            folder = listed.identity
        }
        let isOther = current.withLock { exchange(&$0.folder, with: .some(folder)) } != .some(folder)
        // A retargeted symbolic link or a renamed parent folder causes no event in the folder.
        if isOther { bell.ring() }
        record(shortage: outcome.shortage)
    }

    func record(shortage reason: String?) {
        guard current.withLock({ exchange(&$0.shortage, with: reason) }) != reason else { return }
        guard let reason else { return logger.notice("lists can be read again") }
        logger.error("reading lists is suspended", metadata: ["reason": "\(reason)"])
    }

    /// Changes the state, and logs it if the reason for polling changed.
    ///
    /// - Returns: Whether the state changed.
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
