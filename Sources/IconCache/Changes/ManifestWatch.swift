// SPDX-License-Identifier: Apache-2.0
import Dispatch
import SystemPackage

/// Tells that a folder may have another manifest: at once by inotify, and from time to time in any case.
///
/// Some file systems report nothing (NFS, FUSE), a folder that is made anew is another one to inotify, and a user has a
/// limited number of watches. So each hint only says “look again”. Everything is taken down with the last reference.
final class ManifestWatch {
    /// The hints; those that nobody has taken yet are one.
    let hints: AsyncStream<Void>

    private let timer: any DispatchSourceTimer
    private let events: (any DispatchSourceRead)?

    /// - Parameters:
    ///   - folder: The cache folder; it need not be there.
    ///   - interval: How often a hint is given although nothing was reported.
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
        // In this order: the descriptor is closed by the second, and the first one uses it.
        timer.cancel()
        events?.cancel()
    }
}
