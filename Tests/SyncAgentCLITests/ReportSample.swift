// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Reports
import SyncPlan

/// States of an agent that the commands show.
enum ReportSample: String, CaseIterable, Sendable, CustomStringConvertible {
    case well, working, failures, full, paused, held, stopped, unreachable, hostile

    static let now = Timestamp("2026-11-21T12:00:00Z") ?? .distantPast

    var description: String { rawValue }

    private static func list(
        _ name: ListName, _ state: StatusReport.List.State = .ok, ready: Int, pending: Int = 0, failed: Int = 0,
        code: String? = nil,
        error: String? = nil
    ) -> StatusReport.List {
        var list = StatusReport.List(name: name, state: state)
        (list.apps, list.ready, list.pending, list.failed) = (ready + pending + failed, ready, pending, failed)
        (list.code, list.error) = (code, error)
        return list
    }

    var report: StatusReport {
        var report = StatusReport(state: .running)
        (report.pid, report.generation, report.published) = (811, 42, "2026-11-21T11:57:00Z")
        report.inSync = true
        report.cache = StatusReport.Cache(bytes: 91_234_567, images: 1187)
        report.watch.mode = "inotify"
        report.failures = []
        report.lists = [Self.list("apps.plist", ready: 16), Self.list("games.plist", ready: 1188)]
        (report.icons.referenced, report.icons.ready) = (1204, 1204)
        change(&report)
        return report
    }

    private func change(_ report: inout StatusReport) {
        switch self {
        case .well: break
        case .working:
            report.inSync = false
            report.lists[1] = Self.list("games.plist", ready: 200, pending: 988)
            (report.icons.ready, report.icons.pending) = (216, 988)
            (report.downloads.active, report.downloads.queued) = (32, 956)
        case .failures:
            report.lists[1] = Self.list("games.plist", ready: 1180, failed: 8)
            report.lists.append(
                Self.list(
                    "old list.plist", .lastGood, ready: 4, code: "not-a-property-list",
                    error: "The file is not a property list (line 3: <strin> is not an element of property lists): "
                        + "correct it, or write it again."))
            (report.icons.ready, report.icons.failed, report.icons.retired) = (1196, 8, 3)
            report.downloads.waiting = 8
            report.failures = [
                StatusReport.Failure(
                    code: "http-404", icons: 7, example: "https://cdn.example.com/icons/a.png", list: "games.plist",
                    message: "the server answered 404"),
                StatusReport.Failure(
                    code: "address-refused", icons: 1, example: "https://intranet.example/x.png?…",
                    list: "games.plist",
                    message: "10.0.0.7 is not a public address (private); to allow it, add 10.0.0.0/8 to network.allow"),
            ]
        case .full:
            report.inSync = false
            (report.icons.ready, report.icons.pending, report.downloads.blocked) = (1163, 41, 41)
            report.lists[1] = Self.list("games.plist", ready: 1147, pending: 41)
            (report.downloads.code, report.downloads.reason) = (
                "disk-full",
                "only 1.2 GiB of 30 GiB are free in /home/ada/.cache/syncagent, and cache.minFree (5%) reserves 1.5 GiB"
            )
        case .paused:
            report.state = .paused
            report.inSync = false
            (report.icons.ready, report.icons.pending, report.downloads.blocked) = (1203, 1, 1)
            report.lists[0] = Self.list("apps.plist", ready: 15, pending: 1)
        case .held:
            report.lists.removeLast()
            (report.icons.referenced, report.icons.ready, report.icons.retired) = (16, 16, 1188)
            report.eviction = .held(
                "1188 of 1204 images were retired: held until 2026-11-22T11:57:00Z, or until you run syncagent "
                    + "evict --confirm")
        case .stopped:
            (report.state, report.reachable, report.pid) = (.stopped, false, nil)
        case .unreachable:
            report.reachable = false
            report.eviction = .unknown
        case .hostile:
            report.lists = [
                Self.list(
                    "a\u{1B}[31m\nb c.plist", .rejected, ready: 0, code: "empty-file", error: "The file is empty."),
                Self.list("日本語のアプリの一覧表とゲームの一覧表.plist", ready: 16),
            ]
            (report.watch.mode, report.watch.reason) = ("polling", "its file system is overlayfs")
        }
    }
}

/// Icons that `why` explains.
enum IconSample: String, CaseIterable, Sendable, CustomStringConvertible {
    case ready, waiting, failed, retired

    var description: String { rawValue }

    private static let image = "icons/0b/0bd4000000000000000000000000000000000000000000000000000000000000.png"

    var report: IconReport {
        let origin = "https://example.com:443"
        switch self {
        case .ready:
            var report = IconReport(
                url: "https://example.com/mail.png", state: .ready, lists: ["apps.plist", "pins"],
                next: "refresh at 2026-11-21T13:00:00Z")
            (report.path, report.pinned) = (Self.image, true)
            report.rule = "refresh.minimum (1h) is longer than its freshness; 120 s later, to spread requests"
            report.response = .init(
                received: "2026-11-21T11:58:00Z", etag: "\"abc\"",
                freshness: "max-age 60 s, age 0 s when received: fresh for 60 s")
            report.origin = .init(name: origin, failures: 0)
            return report
        case .waiting:
            var report = IconReport(
                url: "https://example.com/maps.png", state: .pending, lists: ["apps.plist"],
                next: "queued for download")
            let until = "2026-11-21T12:10:00Z"
            report.holds = [
                .init(code: "paused", reason: "downloads are paused: run syncagent resume"),
                .init(code: "origin-waiting", reason: "no request to \(origin) until \(until), as the server asked"),
            ]
            report.origin = .init(name: origin, failures: 0, waitsUntil: until)
            return report
        case .failed:
            let next = "2026-11-21T12:58:00Z"
            var report = IconReport(
                url: "https://example.com/gone.png", state: .failed, lists: ["apps.plist", "games.plist"],
                next: "retry at \(next)")
            report.failure = .init(
                code: "http-404", message: "the server answered 404", attempts: 3, nextAttempt: next)
            return report
        case .retired:
            var report = IconReport(
                url: "https://example.com/old.png", state: .retired, lists: [],
                next: "no request: no list names it")
            (report.path, report.eviction) = (
                Self.image, "the grace period of generation 41 ends at 2026-11-21T12:07:00Z"
            )
            return report
        }
    }
}
