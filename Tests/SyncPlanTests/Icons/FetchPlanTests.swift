// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules
import Testing

@testable import SyncPlan

@Suite("Fetch plans of icons")
struct FetchPlanTests {
    private static let now = Sample.start
    private static let later = now + .seconds(1)

    /// An icon that a list names, to which these events have happened.
    private static func icon(isInline: Bool = false, _ events: IconEvent...) -> IconRecord {
        IconRecord(isInline: isInline, [.named(by: ["a.plist"])] + events)
    }

    private static let queued = IconEvent.queued(at: "https://h/a")

    private static func failure(next: Timestamp?) -> IconRecord.Failure {
        IconRecord.Failure(code: .http(404), message: "gone", attempts: 1, nextAttempt: next)
    }

    @Test("rows of icons and images are small: there are very many of them")
    func size() {
        #expect(MemoryLayout<IconTable.Element>.stride <= 64)
        #expect(MemoryLayout<ImageTable.Row>.stride <= 64)
    }

    private static let table: [(IconRecord, FetchPlan)] = [
        (icon(), .fetch(.notCached)),
        (icon(.lost), .fetch(.missingOnDisk)),
        (IconRecord(), .unreferenced),
        (icon(queued), .underWay),
        (icon(queued, .started), .underWay),
        (icon(queued, .started, .staged("x")), .underWay),
        (icon(.found("x", freshUntil: later)), .fresh(until: later)),
        (icon(.found("x", freshUntil: now)), .fetch(.expired)),
        (
            icon(
                .found("x", freshUntil: later), .expected([.of("x")], by: "a.plist"),
                .expected([.of("y")], by: "b.plist")),
            .fresh(until: later)
        ),
        (icon(.found("x", freshUntil: later), .expected([.of("y")], by: "a.plist")), .fetch(.expired)),
        (icon(.expires(later)), .fetch(.notCached)),
        (icon(isInline: true), .fetch(.notCached)),
        (icon(isInline: true, .found("x")), .inline),
        (icon(.failed(failure(next: later))), .waiting(until: later)),
        (icon(.failed(failure(next: now))), .fetch(.retry)),
        (icon(.failed(failure(next: nil))), .refused),
        (icon(.found("x", freshUntil: now), .failed(failure(next: later))), .waiting(until: later)),
        (IconRecord([queued, .started]), .unreferenced),
    ]

    @Test("the fetch plan follows from the image, its freshness and its failure", arguments: table)
    func plan(icon: IconRecord, plan: FetchPlan) {
        #expect(FetchPlan(for: icon, with: Sample.images.digest(icon.image), now: Self.now) == plan)
    }

    @Test("an icon with an image is ready, whatever failed since")
    func states() {
        func state(_ icon: IconRecord) -> AppListDocument.State { icon.state(in: Sample.images) }
        #expect(state(Self.icon()) == .pending)
        #expect(state(Self.icon(.failed(Self.failure(next: nil)))) == .failed(error: "http-404"))
        #expect(state(Self.icon(.found("old"), .failed(Self.failure(next: nil)))) == .ready(Sample.image("old")))
        let staged = Self.icon(.found("old"), Self.queued, .started, .staged("new"))
        #expect(state(staged) == .ready(Sample.image("new")))
    }
}
