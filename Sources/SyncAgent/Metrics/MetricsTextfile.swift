// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Glibc
import Logging
import SyncPlan
import SystemPackage

/// Writes metrics to a file for the textfile collector of node_exporter (`metrics.textfile`).
///
/// The file is replaced on changes, at most every ``pace``, and at least every ``beat``, so that its age shows whether
/// the agent runs. At the end the agent writes `syncagent_up 0`, which distinguishes a stopped agent from one that was
/// killed or never ran.
struct MetricsTextfile: Sendable {
    /// The shortest time between two writes.
    static let pace: Duration = .seconds(15)
    /// The longest time between two writes.
    static let beat: Duration = .seconds(60)

    private let path: FilePath
    private let agent: RunningAgent
    private let logger: Logger
    private let pace: Duration
    private let beat: Duration

    init(
        at path: FilePath, agent: RunningAgent, logger: Logger, pace: Duration = Self.pace, beat: Duration = Self.beat
    ) {
        (self.path, self.agent, self.logger) = (path, agent, logger)
        (self.pace, self.beat) = (pace, beat)
    }

    func run() async {
        var last: [MetricReading] = []
        var next = ContinuousClock.now
        var trouble: String?
        while !Task.isCancelled {
            let change = agent.loop.feed.newest
            guard let readings = await agent.metrics() else { break }
            let lasting = readings.filter { !$0.family.isVolatile }
            if lasting != last || next <= .now {
                await write(readings, &trouble)
                (last, next) = (lasting, .now + beat)
            }
            guard (try? await Task.sleep(for: pace)) != nil else { break }
            await wait(atMost: ContinuousClock.now.duration(to: next)) { [feed = agent.loop.feed] in
                _ = await feed.next(after: change)
            }
        }
        await write([.buildInfo, .collected, .up(false)], &trouble)
    }

    private func write(_ readings: [MetricReading], _ trouble: inout String?) async {
        // node_exporter exports metrics of its own process under the standard names.
        let text = MetricsText.write(readings) { $0.starts(withBytes: "syncagent_") ? $0 : "syncagent_\($0)" }
        let error = await onOwnThread("metrics") { [path] in Self.replace(path, by: text) }.map { "\($0)" }
        defer { trouble = error }
        if error != trouble {
            agent.listeners.setTextfile(path, error: error)
            agent.loop.feed.emit()
        }
        if let error, trouble == nil {
            logger.warning("cannot write metrics.textfile: retrying", metadata: ["reason": "\(error)"])
        } else if error == nil, trouble != nil {
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
