// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules
import SyncPlan
import Testing

@Suite("Whether an icon is asked for")
struct FetchPlanTests {
    private static let now = Sample.start
    private static let later = now + .seconds(1)

    private static func icon(isInline: Bool = false, _ change: (inout IconRecord) -> Void) -> IconRecord {
        var icon = IconRecord(isInline: isInline)
        icon.lists = ["a.plist"]
        change(&icon)
        return icon
    }

    private static let queued = (try? IconSource("https://h/a")).map {
        IconRecord.Phase.queued($0, origin: "https://h:443")
    }

    private static func failure(next: Timestamp?) -> IconRecord.Failure {
        IconRecord.Failure(code: .http(404), message: "gone", attempts: 1, nextAttempt: next)
    }

    @Test("a record without an image has no room for one: there are very many of them")
    func size() {
        #expect(MemoryLayout<IconRecord>.stride <= 112)
    }

    private static let table: [(IconRecord, FetchPlan)] = [
        (icon { _ in }, .fetch(.notCached)),
        (icon { $0.wasMissing = true }, .fetch(.missingOnDisk)),
        (icon { $0.lists = [] }, .unreferenced),
        (icon { $0.phase = queued ?? .idle }, .underWay),
        (icon { $0.phase = .fetching }, .underWay),
        (icon { $0.staged = StagedImage(name: "1", image: Sample.image("x")) }, .underWay),
        (
            icon {
                $0.image = Sample.image("x")
                $0.freshUntil = later
            }, .fresh(until: later)
        ),
        (
            icon {
                $0.image = Sample.image("x")
                $0.freshUntil = now
            }, .fetch(.expired)
        ),
        (
            icon {
                $0.image = Sample.image("x")
                $0.freshUntil = later
                $0.expected = ["a.plist": .of("x"), "b.plist": .of("y")]
            }, .fresh(until: later)
        ),
        (
            icon {
                $0.image = Sample.image("x")
                $0.freshUntil = later
                $0.expected = ["a.plist": .of("y")]
            }, .fetch(.expired)
        ),
        (icon { $0.freshUntil = later }, .fetch(.notCached)),
        (icon(isInline: true) { _ in }, .fetch(.notCached)),
        (icon(isInline: true) { $0.image = Sample.image("x") }, .inline),
        (icon { $0.failure = failure(next: later) }, .waiting(until: later)),
        (icon { $0.failure = failure(next: now) }, .fetch(.retry)),
        (icon { $0.failure = failure(next: nil) }, .refused),
        (
            icon {
                $0.image = Sample.image("x")
                $0.freshUntil = now
                $0.failure = failure(next: later)
            }, .waiting(until: later)
        ),
        (
            icon {
                $0.lists = []
                $0.phase = .fetching
            }, .unreferenced
        ),
    ]

    @Test("the plan follows from what is known", arguments: table)
    func plan(icon: IconRecord, plan: FetchPlan) {
        #expect(FetchPlan(for: icon, now: Self.now) == plan)
    }

    @Test("an icon with an image is ready, whatever failed since")
    func states() {
        let image = Sample.image("old")
        let staged = StagedImage(name: "1", image: Sample.image("new"))
        #expect(Self.icon { _ in }.state == .pending)
        #expect(Self.icon { $0.failure = Self.failure(next: nil) }.state == .failed(error: "http-404"))
        #expect(
            Self.icon {
                $0.image = image
                $0.failure = Self.failure(next: nil)
            }.state == .ready(image))
        #expect(
            Self.icon {
                $0.image = image
                $0.staged = staged
            }.state == .ready(staged.image))
    }
}
