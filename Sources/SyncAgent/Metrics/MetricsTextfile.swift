// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import Logging
import Reports
import Synchronization
import SystemPackage

/// Writes metrics to a file for the textfile collector of node_exporter (`metrics.textfile`).
///
/// The file is replaced on changes, at most every ``pace``, and at least every ``beat``, so that its age shows whether
/// the agent runs. At the end the agent writes `syncagent_up 0`, which distinguishes a stopped agent from one that was
/// killed or never ran.
package final class MetricsTextfile: Sendable {
    private let path: FilePath
    private let logger: Logger
    /// The shortest time between two writes; 15 s by default.
    private let pace: Duration
    /// The longest time between two writes; 60 s by default.
    private let beat: Duration
    /// Why the last write failed; `nil` if it did not.
    private let error = Mutex<String?>(nil)

    init(at path: FilePath, logger: Logger, pace: Duration = .seconds(15), beat: Duration = .seconds(60)) {
        (self.path, self.logger, self.pace, self.beat) = (path, logger, pace, beat)
    }

    /// The entry for the status, among the listeners; `nil` if the file can be written.
    var trouble: StatusReport.Listener? {
        error.withLock(\.self).map { StatusReport.Listener(name: "textfile", address: path.string, error: $0) }
    }

    /// Writes the metrics of an agent until the task is cancelled or the agent ends.
    func run(for agent: RunningAgent) async {
        let feed = agent.loop.feed
        var last: [MetricReading] = []
        var next = ContinuousClock.now
        while !Task.isCancelled {
            let change = feed.newest
            guard let readings = await agent.metrics() else { break }
            let lasting = readings.filter { !$0.family.isVolatile }
            if lasting != last || next <= .now {
                await write(readings, feed)
                (last, next) = (lasting, .now + beat)
            }
            guard (try? await Task.sleep(for: pace)) != nil else { break }
            await wait(atMost: ContinuousClock.now.duration(to: next)) { _ = await feed.next(after: change) }
        }
        await write([.buildInfo, .collected, .up(false)], feed)
    }

    private func write(_ readings: [MetricReading], _ feed: ChangeFeed) async {
        // node_exporter exports metrics of its own process under the standard names.
        let text = MetricsText.write(readings) { $0.starts(withBytes: "syncagent_") ? $0 : "syncagent_\($0)" }
        let new = await onOwnThread("metrics") { [path] in Self.replace(path, by: text) }.map { "\($0)" }
        let old = error.withLock { exchange(&$0, with: new) }
        if new != old { feed.emit() }
        if let new, old == nil {
            logger.warning("cannot write metrics.textfile: retrying", metadata: ["reason": "\(new)"])
        } else if new == nil, old != nil {
            logger.notice("metrics.textfile written again")
        }
    }

    /// Replaces the file atomically for node_exporter; returns the error if that fails.
    static func replace(_ path: FilePath, by text: String) -> FileError? {
        // The temporary file is hidden from node_exporter, which only reads names that end in .prom.
        let temporary = path.removingLastComponent().appending(".\(path.lastComponent?.string ?? "").new").string
        unlink(temporary)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard file >= 0 else { return FileError("create", temporary, Errno(rawValue: errno)) }
        do {
            let descriptor = FileDescriptor(rawValue: file)
            try descriptor.closeAfter {
                _ = try descriptor.writeAll(text.utf8)
                // The mode must not depend on the umask.
                guard fchmod(file, 0o644) == 0 else { throw Errno(rawValue: errno) }
            }
        } catch {
            unlink(temporary)
            return FileError("write", temporary, error as? Errno ?? .ioError)
        }
        guard rename(temporary, path.string) == 0 else {
            let error = FileError("replace", path.string, Errno(rawValue: errno))
            unlink(temporary)
            return error
        }
        return nil
    }
}
