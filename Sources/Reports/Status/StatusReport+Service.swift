// SPDX-License-Identifier: Apache-2.0
import CacheFormat

extension StatusReport {
    /// The status in one line for `systemctl status`: the counts, then the most important problem.
    ///
    /// `1,204 icons ready, 3 failed, 12 queued; downloads paused`
    package var serviceLine: String {
        var counts = ["\(counted(icons.ready, "icon")) ready"]
        if unmutedFailures > 0 { counts.append("\(grouped(unmutedFailures)) failed") }
        let queued = downloads.active + downloads.queued + downloads.blocked
        if queued > 0 { counts.append("\(grouped(queued)) queued") }
        if downloads.waiting > 0 { counts.append("\(grouped(downloads.waiting)) to retry") }
        let line = counts.joined(separator: ", ")
        return serviceTrouble.map { printable("\(line); \($0)") } ?? line
    }

    private var serviceTrouble: String? {
        if let error = publication.error { return "publication failed: \(error)" }
        if let reason = downloads.reason { return "downloads wait: \(reason)" }
        if let reason = eviction.reason { return "eviction \(eviction.state): \(reason)" }
        if let error = storage.error { return "cannot store the state: \(error)" }
        let bad = lists.count(where: \.isProblem)
        if bad > 0 { return "\(counted(bad, "list")) not accepted" }
        return state == .paused ? "downloads paused" : nil
    }
}
