// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules
import Logging
import Reports
import SyncPlan

/// Logs events: lists, failures and conditions one by one, downloads and publications by count.
struct EventLog: Sendable {
    private struct Batch {
        var icons = 0
        var bytes = 0
        var begun: Timestamp
    }

    private struct Publications {
        var count = 0
        var generation = 0
        var lists = 0
        var images = 0
        /// When the first one was.
        var begun = Timestamp.distantPast
    }

    /// The shortest time between two lines about publications, and between two about downloads.
    private static let pace: Duration = .seconds(1)
    private static let longestBatch: Duration = .seconds(10)

    private let logger: Logger
    /// Why the lists folder is unavailable; `nil` if it is available.
    private var trouble: String?
    /// The entries named like lists that are no files, apart from those that took the place of a list.
    private var others: Set<ListName> = []
    private var batch: Batch?
    private var publications = Publications()
    private var lastLine = (downloads: Timestamp.distantPast, publications: Timestamp.distantPast)

    init(logger: Logger) { self.logger = logger }

    /// When the next delayed line is due; `nil` if there is none.
    private(set) var due: Timestamp?

    /// Logs events, and the downloads that ended with them.
    mutating func record(_ events: [Reconciler.Event], ended downloads: [EndedDownload], now: Timestamp) {
        for event in events {
            switch event {
            case .damaged(let images):
                logger.error(
                    "images damaged on disk: restoring them", metadata: ["images": "\(images.count)"])
            case .slept(let time):
                logger.info("system slept", metadata: ["for": "\(DurationText.format(time))"])
            case .clockSet(let offset):
                logger.notice("clock set", metadata: ["clock": "\(now + offset)", "agent": "\(now)"])
            default: break
            }
        }
        for download in downloads { record(download.outcome, of: download.url, now: now) }
    }

    mutating func record(
        _ events: [Reconciler.Event], emitted: [AgentEvent], after plan: borrowing Reconciler, now: Timestamp
    ) {
        for case .scanned(let scan) in events { record(scan, after: plan) }
        let trouble = plan.unavailable
        for event in emitted {
            // The record of the scan has said so.
            if let trouble, event.kind == .evictionSuspended, event == .evictionSuspended(reason: trouble) { continue }
            record(event, now: now)
        }
        for (kind, message) in [(.iconRetired, "icons retired"), (.iconEvicted, "icons evicted")]
            as [(AgentEvent.Kind, Logger.Message)]
        {
            let count = emitted.count { $0.kind == kind }
            if count > 0 { logger.info(message, metadata: ["icons": "\(count)"]) }
        }
        writeDue(isDownloading: plan.isDownloading, now: now)
    }

    func record(_ request: FetchRequest) {
        guard request.shared == nil else { return }
        logger.debug(
            "icon requested", metadata: ["url": "\(LogURL(request.url))", "reason": "\(request.reason.rawValue)"])
    }

    mutating func finish(now: Timestamp) {
        writeDownloads(now: now)
        writePublications(now: now)
    }

    // MARK: Scans

    /// Logs what the plan does not report of a scan that it has handled, and each trouble only once.
    private mutating func record(_ scan: ListScan, after plan: borrowing Reconciler) {
        let trouble = plan.unavailable
        if trouble != self.trouble { log(trouble) }
        self.trouble = trouble
        guard case .listed(let folder, _, let changed) = scan else { return }
        var others: Set<ListName> = []
        // What took the place of a list is an event.
        for name in folder.others where !plan.hasGoodVersion(of: name) { others.insert(name) }
        log(others)
        for (name, reading) in changed.sorted(by: { $0.key < $1.key }) {
            guard case .success(let list) = reading.verdict else { continue }
            for problem in list.problems {
                logger.warning("entry or value ignored", metadata: ["list": "\(name)", "problem": "\(problem)"])
            }
        }
    }

    private func log(_ trouble: String?) {
        guard let trouble else { return logger.notice("lists folder available again") }
        logger.warning(
            "lists folder unavailable: all lists keep their last version", metadata: ["reason": "\(trouble)"])
    }

    private mutating func log(_ others: Set<ListName>) {
        for name in others.subtracting(self.others).sorted() {
            let rejection = ListRejection.notARegularFile
            logger.warning(
                "not an app list",
                metadata: ["list": "\(name)", "code": "\(rejection.code)", "reason": "\(rejection.message)"])
        }
        self.others = others
    }

    // MARK: Delayed lines

    private mutating func writeDue(isDownloading: Bool, now: Timestamp) {
        var times: [Timestamp] = []
        if let batch {
            let end = isDownloading ? batch.begun + Self.longestBatch : lastLine.downloads + Self.pace
            if end <= now { writeDownloads(now: now) } else { times.append(end) }
        }
        if publications.count > 0 {
            let end =
                isDownloading ? publications.begun + Self.longestBatch : lastLine.publications + Self.pace
            if end <= now { writePublications(now: now) } else { times.append(end) }
        }
        due = times.min()
    }

    private mutating func writeDownloads(now: Timestamp) {
        guard let batch else { return }
        let tenths = max(0, (now - batch.begun).milliseconds) / 100
        logger.info(
            "icons downloaded",
            metadata: [
                "icons": "\(batch.icons)", "bytes": "\(batch.bytes)", "seconds": "\(tenths / 10).\(tenths % 10)",
            ])
        (self.batch, lastLine.downloads) = (nil, now)
    }

    private mutating func writePublications(now: Timestamp) {
        guard publications.count > 0 else { return }
        logger.info(
            "published",
            metadata: [
                "generation": "\(publications.generation)", "publications": "\(publications.count)",
                "lists": "\(publications.lists)", "images": "\(publications.images)",
            ])
        (publications, lastLine.publications) = (Publications(), now)
    }

    // MARK: Single events

    private mutating func record(_ outcome: FetchOutcome, of url: IconURL, now: Timestamp) {
        switch outcome {
        case .image(let staged, _):
            logger.debug("icon downloaded", metadata: ["url": "\(LogURL(url))", "bytes": "\(staged.image.bytes)"])
            if batch == nil { batch = Batch(begun: now) }
            batch?.icons += 1
            batch?.bytes += staged.image.bytes
        case .failed(let failure): trace("download failed", url, code: "\(failure.code)", reason: failure.message)
        case .noRoom(let shortage): trace("download waits", url, code: "\(shortage.code)", reason: shortage.reason)
        case .notModified, .cancelled: break
        }
    }

    private func trace(_ message: Logger.Message, _ url: IconURL, code: String, reason: String) {
        logger.debug(message, metadata: ["url": "\(LogURL(url))", "code": "\(code)", "reason": "\(reason)"])
    }

    private mutating func record(_ event: AgentEvent, now: Timestamp) {
        switch event.kind {
        case .iconReady, .iconChanged, .iconKept:
            logger.trace("\(event.kind.word)", metadata: ["url": "\(event.url.map { "\(LogURL($0))" } ?? "")"])
        case .generationPublished:
            if publications.count == 0 { publications.begun = now }
            publications.count += 1
            publications.generation = event.generation ?? 0
            publications.lists += event.published.lists
            publications.images += event.published.images
        default: break
        }
        guard let entry = event.entry, let level = Logger.Level(rawValue: entry.level.rawValue) else { return }
        logger.log(level: level, "\(entry.text)", metadata: Self.metadata(of: event, entry))
    }

    private static func metadata(of event: AgentEvent, _ entry: AgentEvent.Entry) -> Logger.Metadata {
        var metadata = Logger.Metadata()
        for (key, value) in entry.details() { metadata[key] = "\(value)" }
        if let list = event.list { metadata["list"] = "\(list)" }
        if let url = event.url { metadata["url"] = "\(LogURL(url))" }
        // Its reason says all.
        if let code = event.code, event.kind != .publicationFailed { metadata["code"] = "\(code)" }
        return metadata
    }
}
