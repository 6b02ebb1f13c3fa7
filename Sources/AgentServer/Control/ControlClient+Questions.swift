// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
import AppLists
package import CacheFormat
import NIOHTTP1
package import Reports
package import SyncPlan

/// All return `nil` if no agent answers, or if it is about to stop.
extension ControlClient {
    package func status() async throws -> StatusReport? {
        try await unlessItEnds { try await decoded(StatusReport.self, from: "status") }
    }

    /// Passes the current status and each later one to `isLast`, until that returns true or the agent ends.
    ///
    /// - Returns: The last status.
    package func status(until isLast: (StatusReport) async throws -> Bool) async throws -> StatusReport? {
        try await last(of: StatusReport.self, from: "status/stream", until: isLast)
    }

    /// Everything the agent knows about a URL.
    ///
    /// - Returns: `nil` if no agent answers; `.some(nil)` if it does not know the URL.
    package func report(on url: IconURL) async throws -> IconReport?? {
        try await unlessItEnds {
            do {
                return try await decoded(IconReport.self, from: "why", .POST, body: .of(url))
            } catch let error as Unexpected where [404, 413].contains(error.status) {
                // A URL too long for a request is too long for a list, so no list names it.
                return nil
            }
        }
    }

    /// Pauses new downloads; returns the status after that.
    package func pause(for duration: String? = nil, reason: String? = nil) async throws -> StatusReport? {
        var body = RequestDocument()
        (body.for, body.reason) = (duration, reason)
        return try await unlessItEnds { try await decoded(StatusReport.self, from: "pause", .POST, body: body) }
    }

    /// Ends the pause for a reason, or all of them; returns the status after that.
    package func resume(reason: String? = nil) async throws -> StatusReport? {
        var body = RequestDocument()
        body.reason = reason
        return try await unlessItEnds { try await decoded(StatusReport.self, from: "resume", .POST, body: body) }
    }

    /// What is evicted and what stays: for one icon, or for all that no list names.
    package func evictionReport(on url: IconURL? = nil) async throws -> EvictionReport? {
        try await unlessItEnds {
            guard let url else { return try await decoded(EvictionReport.self, from: "eviction") }
            return try await decoded(EvictionReport.self, from: "eviction", .POST, body: .of(url))
        }
    }

    /// Evicts retired images without waiting for the grace period; returns what stays, and why.
    ///
    /// If `isConfirmed`, it releases a held eviction too.
    package func evict(isConfirmed: Bool) async throws -> EvictionReport? {
        var body = RequestDocument()
        body.confirm = isConfirmed
        return try await unlessItEnds { try await decoded(EvictionReport.self, from: "evict", .POST, body: body) }
    }

    /// Downloads damaged images again; returns the status after that.
    package func repair(_ images: Set<Digest>) async throws -> StatusReport? {
        var body = RequestDocument()
        body.images = images.map(\.hex).sorted()
        return try await unlessItEnds { try await decoded(StatusReport.self, from: "repair", .POST, body: body) }
    }

    /// Pins or unpins an icon; returns all pins.
    package func pin(_ url: IconURL, _ isPinned: Bool) async throws -> PinReport? {
        try await unlessItEnds {
            try await decoded(PinReport.self, from: isPinned ? "pin" : "unpin", .POST, body: .of(url))
        }
    }

    package func mutes() async throws -> MuteReport? {
        try await unlessItEnds { try await decoded(MuteReport.self, from: "mutes") }
    }

    /// Mutes or unmutes a URL or list; returns all that is muted.
    package func mute(_ target: MuteTarget, _ isMuted: Bool, for time: String? = nil) async throws -> MuteReport? {
        var body = RequestDocument()
        if case .icon(let url) = target { body.url = url }
        if case .list(let name) = target { body.list = name }
        body.for = time
        return try await unlessItEnds {
            try await decoded(MuteReport.self, from: isMuted ? "mute" : "unmute", .POST, body: body)
        }
    }

    package func retry(_ selection: IconSelection) async throws -> SelectionReport? {
        try await unlessItEnds {
            try await decoded(SelectionReport.self, from: "retry", .POST, body: .of(selection, withFailed: true))
        }
    }

    /// Requests icons now, even if they failed or are fresh; if full, without conditions.
    ///
    /// - Throws: ``Unexpected`` if the agent is an earlier version, which knows no full refresh.
    package func refresh(_ selection: IconSelection, isFull: Bool = false) async throws -> SelectionReport? {
        var body = RequestDocument.of(selection, withFailed: false)
        // Earlier versions refuse unknown members.
        if isFull { body.full = true }
        return try await unlessItEnds {
            try await decoded(SelectionReport.self, from: "refresh", .POST, body: body)
        }
    }

    /// Removes everything but the lists, and downloads it again.
    package func purge() async throws -> PurgeReport? {
        struct Answer: Decodable {
            var purge: PurgeReport
        }
        return try await unlessItEnds { try await decoded(Answer.self, from: "purge", .POST).purge }
    }

    package func settings() async throws -> SettingsReport? {
        try await unlessItEnds { try await decoded(SettingsReport.self, from: "settings") }
    }

    /// Reads the configuration again, as SIGHUP does; an agent of an earlier version refuses that.
    package func reload() async throws -> ReloadReport? {
        try await unlessItEnds { try await decoded(ReloadReport.self, from: "reload", .POST) }
    }

    /// The icons of a list, or of any, whose last refresh failed.
    package func staleIcons(of list: ListName?) async throws -> Set<IconURL>? {
        guard let status = try await status() else { return nil }
        var stale: Set<IconURL> = []
        let query = list.map { "list=\(PercentEncoding.encode($0.text))&" } ?? ""
        var path: String? = status.icons.stale > 0 ? "icons?\(query)limit=1000" : nil
        let first = path
        while let next = path {
            guard let page = try await unlessItEnds({ try await decoded(IconPage.self, from: next) }) else {
                return nil
            }
            stale.formUnion(page.icons.lazy.filter { $0.stale != nil }.map(\.url))
            path = page.next.flatMap { cursor in first.map { "\($0)&after=\(cursor)" } }
        }
        return stale
    }

    /// Rescans the lists folder; returns the status after that.
    package func sync() async throws -> StatusReport? {
        try await unlessItEnds { try await decoded(StatusReport.self, from: "sync", .POST) }
    }

    /// Rescans the lists folder and reports the progress of some lists (all, if empty), until `isDone`.
    ///
    /// - Returns: The last report; it is not done if the agent ended before.
    package func sync(waitingFor lists: [ListName], _ progress: (SyncReport) -> Void) async throws -> SyncReport? {
        var body = RequestDocument()
        body.lists = lists
        return try await last(of: SyncReport.self, from: "sync/stream", .POST, body: body) {
            progress($0)
            return false
        }
    }
}

extension ControlClient {
    /// Opens the dashboard until the task is cancelled or the agent ends.
    ///
    /// - Parameters:
    ///   - mayChange: Whether the page gets change access.
    ///   - isOpen: Called with the page's address.
    /// - Returns: `nil` if no agent answers.
    /// - Throws: ``Unexpected`` if the agent does not open the page, and what the closure throws.
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
}

extension RequestDocument {
    fileprivate static func of(_ selection: IconSelection, withFailed: Bool) -> RequestDocument {
        var document = RequestDocument()
        (document.urls, document.lists) = (selection.urls, selection.lists)
        if withFailed { document.failed = selection.failed }
        return document
    }

    fileprivate static func of(_ url: IconURL) -> RequestDocument {
        var document = RequestDocument()
        document.url = url
        return document
    }
}
