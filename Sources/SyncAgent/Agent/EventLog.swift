// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Logging
import SyncPlan
import WebAddresses

/// Logs what happened, as the plan takes it in.
struct EventLog: Sendable {
    private let logger: Logger
    private var scans: ScanLog

    init(logger: Logger) {
        self.logger = logger
        scans = ScanLog(logger: logger)
    }

    /// Notes events that the plan is about to take in.
    mutating func note(_ events: [Reconciler.Event], before plan: borrowing Reconciler) {
        for event in events {
            switch event {
            case .fetched(let url, let outcome, _, _): log(plan.judged(outcome, of: url), of: url)
            case .published(let result): log(result)
            case .damaged(let images):
                logger.error(
                    "images damaged on disk: downloading them again", metadata: ["images": "\(images.count)"])
            case .slept(let time):
                logger.info("system slept", metadata: ["time": "\(DurationText.format(time))"])
            default: break
            }
        }
    }

    /// Notes events that the plan has taken in.
    mutating func note(_ events: [Reconciler.Event], after plan: borrowing Reconciler) {
        for case .scanned(let scan) in events {
            let plan = copy plan
            scans.note(scan, hasGoodVersion: { plan.hasGoodVersion(of: $0) }, trouble: plan.unavailable)
        }
    }

    /// Notes a download that is about to begin.
    func note(_ request: FetchRequest) {
        logger.debug(
            "icon requested", metadata: ["url": "\(LogURL(request.url))", "reason": "\(request.reason.rawValue)"])
    }

    private func log(_ result: PublicationResult) {
        switch result {
        case .published(_, _, nil): break
        case .noRoom(let shortage, _, _):
            logger.warning("no room for some list documents: they wait", metadata: ["reason": "\(shortage.reason)"])
        case .published(let manifest, _, let doubt?):
            logger.error(
                "generation may not be durable",
                metadata: ["generation": "\(manifest.generation)", "reason": "\(doubt)"])
        case .failed(let reason, _):
            logger.error(
                "publication failed: the previous generation stays in force", metadata: ["reason": "\(reason)"])
        }
    }

    private func log(_ outcome: FetchOutcome, of url: IconURL) {
        switch outcome {
        case .image(let staged, _):
            logger.debug("icon downloaded", metadata: ["url": "\(LogURL(url))", "bytes": "\(staged.image.bytes)"])
        case .failed(let failure): warn(url, code: "\(failure.code)", reason: failure.message)
        case .noRoom(let shortage): warn(url, code: "\(shortage.code)", reason: shortage.reason)
        case .notModified, .cancelled: break
        }
    }

    private func warn(_ url: IconURL, code: String, reason: String) {
        logger.warning(
            "icon not downloaded", metadata: ["url": "\(LogURL(url))", "code": "\(code)", "reason": "\(reason)"])
    }
}
