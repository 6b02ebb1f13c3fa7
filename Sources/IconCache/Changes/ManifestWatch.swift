// SPDX-License-Identifier: Apache-2.0
import Dispatch
import SystemPackage

/// Hints that a folder may have a new manifest: at once through inotify, and periodically in any case.
///
/// Some file systems report nothing (NFS, FUSE), inotify does not follow a folder that is recreated, and each user has
/// a limited number of watches. So a hint only means that the manifest should be checked. Watching stops with the last
/// reference.
final class ManifestWatch {
    /// The hints; unread ones are merged into one.
    let hints: AsyncStream<Void>

    private let timer: any DispatchSourceTimer
    private let events: (any DispatchSourceRead)?

    /// Starts watching a cache folder, which need not exist; `interval` is how often to hint in any case.
    init(_ folder: FilePath, pollingEvery interval: Duration) {
        let (hints, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.hints = hints
        let queue = DispatchQueue(label: "IconCache.ManifestWatch")
        let inotify = Inotify(folder)

        timer = DispatchSource.makeTimerSource(queue: queue)
        let nanoseconds = DispatchTimeInterval.nanoseconds(Int(interval / .nanoseconds(1)))
        timer.schedule(deadline: .now() + nanoseconds, repeating: nanoseconds)
        timer.setEventHandler {
            inotify?.renew()
            continuation.yield()
        }
        events = inotify.map { inotify in
            let events = DispatchSource.makeReadSource(fileDescriptor: inotify.file.rawValue, queue: queue)
            events.setEventHandler {
                inotify.drain()
                continuation.yield()
            }
            events.setCancelHandler { try? inotify.file.close() }
            return events
        }
        timer.activate()
        events?.activate()
    }

    deinit {
        // The timer uses the descriptor that cancelling `events` closes, so it is cancelled first.
        timer.cancel()
        events?.cancel()
    }
}
