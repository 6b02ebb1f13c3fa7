// SPDX-License-Identifier: Apache-2.0
import HTTPRules
import SyncPlan
import Transfers

extension Downloads {
    /// Schedules the next check of timeouts, at `time` at the latest.
    func check(by time: ContinuousClock.Instant) {
        nextCheck = nextCheck.map { min($0, time) } ?? time
    }

    func checkTimes(_ now: ContinuousClock.Instant) {
        nextCheck = nil
        for download in active.values where download.givenUp == nil {
            if let due = checkTimes(of: download, now) { check(by: due) }
        }
        for document in documents.values { if let due = checkTimes(of: document, now) { check(by: due) } }
    }

    /// - Returns: When the next limit applies; `nil` if none does.
    private func checkTimes(of download: ActiveDownload, _ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard download.deadline > now else {
            giveUp(download, because: FetchFailure.timeout("\(download.limits.table).totalTimeout"))
            return nil
        }
        guard let transfer = download.transfer else { return download.deadline }
        if let end = download.drainEnd {
            guard end <= now else { return min(download.deadline, end) }
            stop(download)
            goOn(with: download, after: nil)
            return download.deadline
        }
        let idleEnd = idleEnd(of: transfer, download.limits, now)
        guard idleEnd <= now else { return min(download.deadline, idleEnd) }
        let failure = FetchFailure.silence(download.limits)
        note(failure, of: transfer, download)
        transport.breakOff(transfer, afterSilenceOf: download.limits.idleTimeout)
        giveUp(download, because: failure)
        return nil
    }

    private func checkTimes(of document: DocumentTransfer, _ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard document.deadline > now else {
            giveUp(document, because: FetchFailure.timeout("\(document.limits.table).totalTimeout"))
            return nil
        }
        guard let transfer = document.transfer else { return document.deadline }
        let idleEnd = idleEnd(of: transfer, document.limits, now)
        guard idleEnd <= now else { return min(document.deadline, idleEnd) }
        document.transfer = nil
        transport.breakOff(transfer, afterSilenceOf: document.limits.idleTimeout)
        giveUp(document, because: FetchFailure.silence(document.limits))
        return nil
    }

    /// When a transfer will have been idle for too long; another limit applies while it connects.
    private func idleEnd(
        of transfer: any Transfer, _ limits: RequestLimits, _ now: ContinuousClock.Instant
    ) -> ContinuousClock.Instant {
        guard !transfer.isPaused, let last = transfer.lastActivity else { return now + limits.idleTimeout }
        return last + limits.idleTimeout
    }
}

extension FetchFailure {
    fileprivate static func silence(_ limits: RequestLimits) -> FetchFailure {
        .timeout("\(limits.table).idleTimeout to send more data")
    }
}
