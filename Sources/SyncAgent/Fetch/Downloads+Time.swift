// SPDX-License-Identifier: Apache-2.0
import HTTPRules
import Transfers

extension Downloads {
    /// The shortest time between two checks: during a wait, the end of a timeout recedes before them.
    private static let checkInterval: Duration = .milliseconds(100)

    /// Schedules the next check of timeouts, at `time` at the latest.
    func check(by time: ContinuousClock.Instant) {
        nextCheck = nextCheck.map { min($0, time) } ?? time
    }

    /// Also before each download begins: an earlier sleep is not its own.
    func noticeSleep() { if let time = sleep.read() { recordSleep(time) } }

    /// Gives transfers the time that the system slept: nothing could arrive meanwhile.
    func recordSleep(_ time: Duration) {
        woke = .now
        for download in active.values { download.deadline.extend(by: time, at: woke, of: download.transfer) }
        for document in documents.values { document.deadline.extend(by: time, at: woke, of: document.transfer) }
    }

    func checkTimes(_ now: ContinuousClock.Instant) {
        nextCheck = nil
        defer { nextCheck = nextCheck.map { max($0, now + Self.checkInterval) } }
        for download in active.values where download.givenUp == nil {
            if let due = checkTimes(of: download, now) { check(by: due) }
        }
        for document in documents.values {
            do throws(FetchFailure) {
                check(
                    by: try checkTimes(
                        of: document.transfer, document.limits,
                        until: document.deadline.time(at: now, of: document.transfer), now))
            } catch {
                giveUp(document, because: error)
            }
        }
    }

    /// - Returns: When the next limit applies; `nil` if none does.
    private func checkTimes(of download: ActiveDownload, _ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let deadline = download.deadline.time(at: now, of: download.transfer)
        let isInTime = deadline > now
        if isInTime, let end = download.drainEnd, download.transfer != nil {
            if end > now { return min(deadline, end) }
            stop(download)
            goOn(with: download, after: nil)
            return deadline
        }
        do throws(FetchFailure) {
            return try checkTimes(of: download.transfer, download.limits, until: deadline, now)
        } catch {
            if isInTime, let transfer = download.transfer { switchVersion(after: error, of: transfer, download) }
            giveUp(download, because: error)
            return nil
        }
    }

    /// Breaks a transfer off that has been idle for too long; another limit applies while it connects.
    ///
    /// - Returns: When the next limit applies.
    /// - Throws: A failure if a time is over.
    private func checkTimes(
        of transfer: (any Transfer)?, _ limits: RequestLimits, until deadline: ContinuousClock.Instant,
        _ now: ContinuousClock.Instant
    ) throws(FetchFailure) -> ContinuousClock.Instant {
        guard deadline > now else { throw .timeout("\(limits.table).totalTimeout") }
        guard let transfer else { return deadline }
        let lastActivity = transfer.isPaused ? now : max(transfer.lastActivity ?? now, woke)
        let idleEnd = lastActivity + limits.idleTimeout
        guard idleEnd <= now else { return min(deadline, idleEnd) }
        transfer.breakOff(afterSilenceOf: limits.idleTimeout)
        throw .timeout("\(limits.table).idleTimeout to send more data")
    }
}
