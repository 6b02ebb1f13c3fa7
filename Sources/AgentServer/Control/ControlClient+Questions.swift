// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
import AppLists
package import CacheFormat
import NIOHTTP1
package import Reports
package import SyncPlan

/// All methods return `nil` if no agent answers, or if it is about to stop.
extension ControlClient {
    package func status() async throws -> StatusReport? { try await get("status") }

    /// Passes the current status and each later one to `isLast`, until that returns true or the agent ends.
    ///
    /// - Returns: The last status.
    package func status(until isLast: (StatusReport) async throws -> Bool) async throws -> StatusReport? {
        try await last(of: StatusReport.self, from: "status/stream", until: isLast)
    }

    /// Everything that the agent knows about a URL.
    ///
    /// - Returns: `nil` if no agent answers; `.some(nil)` if it does not know the URL.
    package func report(on url: IconURL) async throws -> IconReport?? {
        try await unlessItEnds {
            do {
                return try await decoded(IconReport.self, from: "why", .POST, body: RequestDocument(url: url))
            } catch let error as Unexpected where [404, 413].contains(error.status) {
                // A URL too long for a request is too long for a list, so no list names it.
                return nil
            }
        }
    }

    /// Pauses new downloads; returns the status after the change.
    package func pause(for duration: String? = nil, reason: String? = nil) async throws -> StatusReport? {
        try await post("pause", RequestDocument(for: duration, reason: reason))
    }

    /// Ends the pause with a reason, or all pauses (`nil`); returns the status after the change.
    package func resume(reason: String? = nil) async throws -> StatusReport? {
        try await post("resume", RequestDocument(reason: reason))
    }

    /// The icons that are or would be evicted, and those that stay: one icon, or all that no list names.
    package func evictionReport(on url: IconURL? = nil) async throws -> EvictionReport? {
        guard let url else { return try await get("eviction") }
        return try await post("eviction", RequestDocument(url: url))
    }

    /// Evicts retired images without waiting for the grace period; returns the icons that stay, with reasons.
    ///
    /// With `isConfirmed`, a held eviction is released, too.
    package func evict(isConfirmed: Bool) async throws -> EvictionReport? {
        try await post("evict", RequestDocument(confirm: isConfirmed))
    }

    /// Downloads damaged images again; returns the status after the request.
    package func repair(_ images: Set<Digest>) async throws -> StatusReport? {
        try await post("repair", RequestDocument(images: images.map(\.hex).sorted()))
    }

    /// Pins or unpins an icon; returns all pins.
    package func pin(_ url: IconURL, _ isPinned: Bool) async throws -> PinReport? {
        try await post(isPinned ? "pin" : "unpin", RequestDocument(url: url))
    }

    package func mutes() async throws -> MuteReport? { try await get("mutes") }

    /// Mutes or unmutes a URL or list; returns everything that is muted.
    package func mute(_ target: MuteTarget, _ isMuted: Bool, for time: String? = nil) async throws -> MuteReport? {
        let mute = MuteReport.Mute(target, until: nil)
        let body = RequestDocument(url: mute.url, list: mute.list, for: time)
        return try await post(isMuted ? "mute" : "unmute", body)
    }

    package func retry(_ selection: IconSelection) async throws -> SelectionReport? {
        let (urls, lists) = (selection.urls, selection.lists)
        return try await post("retry", RequestDocument(urls: urls, lists: lists, failed: selection.failed))
    }

    /// Requests icons now, even if they failed or are fresh; with `isFull`, without conditions.
    ///
    /// - Throws: ``Unexpected`` if the agent is an earlier version, which knows no full refresh.
    package func refresh(_ selection: IconSelection, isFull: Bool = false) async throws -> SelectionReport? {
        // Earlier versions refuse unknown members.
        let full = isFull ? true : nil
        return try await post("refresh", RequestDocument(urls: selection.urls, lists: selection.lists, full: full))
    }

    /// Removes everything but the lists, and downloads their icons again.
    package func purge() async throws -> PurgeReport? {
        struct Answer: Decodable {
            var purge: PurgeReport
        }
        let answer: Answer? = try await post("purge")
        return answer?.purge
    }

    package func settings() async throws -> SettingsReport? { try await get("settings") }

    /// Reads the configuration again, as SIGHUP does; an agent of an earlier version refuses that.
    package func reload() async throws -> ReloadReport? { try await post("reload") }

    /// The icons of a list, or of any list (`nil`), whose last refresh failed.
    package func staleIcons(of list: ListName?) async throws -> Set<IconURL>? {
        guard let status = try await status() else { return nil }
        var stale: Set<IconURL> = []
        let query = list.map { "list=\(PercentEncoding.encode($0.text))&" } ?? ""
        var path: String? = status.icons.stale > 0 ? "icons?\(query)limit=1000" : nil
        let first = path
        while let next = path {
            guard let page: IconPage = try await get(next) else { return nil }
            stale.formUnion(page.icons.lazy.filter { $0.stale != nil }.map(\.url))
            path = page.next.flatMap { cursor in first.map { "\($0)&after=\(cursor)" } }
        }
        return stale
    }

    /// Rescans the lists folder; returns the status after the scan.
    package func sync() async throws -> StatusReport? { try await post("sync") }

    /// Rescans the lists folder and reports the progress of some lists (all, if empty), until `isDone`.
    ///
    /// - Returns: The last report; its `isDone` is `false` if the agent ended before.
    package func sync(waitingFor lists: [ListName], _ progress: (SyncReport) -> Void) async throws -> SyncReport? {
        try await last(of: SyncReport.self, from: "sync/stream", .POST, body: RequestDocument(lists: lists)) {
            progress($0)
            return false
        }
    }

    /// Opens the dashboard until the task is cancelled or the agent ends.
    ///
    /// - Parameters:
    ///   - mayChange: Whether the page gets change access.
    ///   - isOpen: Called with the page's address.
    /// - Returns: `nil` if no agent answers.
    /// - Throws: ``Unexpected`` if the agent does not open the page, or an error of the closure.
    package func dashboard(mayChange: Bool, _ isOpen: (String) async throws -> Void) async throws -> Bool? {
        struct Opened: Decodable {
            var url: String?
            var error: String?
        }
        let path = "dashboard?access=\(mayChange ? "change" : "read")"
        do {
            let end = try await last(of: Opened.self, from: path, .POST) { opened in
                if let error = opened.error { throw Unexpected(status: 409, reason: error) }
                if let url = opened.url { try await isOpen(url) }
                return false
            }
            return end.map { _ in true }
        } catch  where Task.isCancelled {
            return true
        }
    }

    private func get<Answer: Decodable>(_ path: String) async throws -> Answer? {
        try await unlessItEnds { try await decoded(Answer.self, from: path) }
    }

    private func post<Answer: Decodable>(_ path: String, _ body: RequestDocument? = nil) async throws -> Answer? {
        try await unlessItEnds { try await decoded(Answer.self, from: path, .POST, body: body) }
    }
}
