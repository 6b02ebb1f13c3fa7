// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@testable import AgentSettings
@testable import SyncPlan

@Suite("Changes that are not stored yet")
struct UnstoredChangesTests {
    private static let plan = Reconciler(settings: Settings(), seed: 1, now: Sample.start)

    /// Nothing has changed since a start.
    private static func stored() -> UnstoredChanges {
        var unstored = UnstoredChanges()
        unstored.recordStart(values: plan.remembered, generations: [])
        return unstored
    }

    @Test("a change waits a second for others, and all are stored with the first one")
    func delay() {
        var unstored = Self.stored()
        #expect(unstored.due == nil)
        var icons = IconTable()
        unstored.mark(forgotten: "a", of: icons.id(of: "a", default: IconRecord()), at: Sample.start)
        unstored.mark(.origin("http://h:80"), at: Sample.start + .milliseconds(900))
        unstored.mark(.list("1.plist"), at: Sample.start + .milliseconds(900))
        unstored.mark(.generation(7), at: Sample.start + .milliseconds(900))
        #expect(unstored.due == Sample.start + .seconds(1))
        // Nothing is known of any of them.
        let changes = unstored.drain(from: Self.plan)
        #expect(changes.forgotten == ["a"] && changes.origins == ["http://h:80": nil])
        #expect(changes.lists == ["1.plist": nil] && changes.superseded == [7: nil] && changes.values == nil)
        #expect(unstored.due == nil && unstored.drain(from: Self.plan).isEmpty)
    }

    @Test("a single value that has changed is due at once, and one that has not is not stored")
    func values() {
        var unstored = Self.stored()
        unstored.mark(values: Self.plan.remembered, superseded: [], at: Sample.start)
        #expect(unstored.due == nil)
        var plan = Self.plan
        _ = plan.handle(.pause(Pause()), now: Sample.start)
        unstored.mark(values: plan.remembered, superseded: [], at: Sample.start)
        #expect(unstored.due == Sample.start)
        #expect(unstored.drain(from: plan).values == RememberedValues(isPaused: true))
        unstored.mark(values: plan.remembered, superseded: [], at: Sample.start)
        #expect(unstored.due == nil && unstored.drain(from: plan).isEmpty)
    }

    @Test("single values are stored again if they tell of ages that have grown, or if they are lost")
    func again() {
        var unstored = Self.stored()
        unstored.renewValues()
        #expect(unstored.due == nil && unstored.drain(from: Self.plan).values == Self.plan.remembered)
        unstored.markAll(Self.plan, at: Sample.start)
        #expect(unstored.due == Sample.start && unstored.drain(from: Self.plan).values == Self.plan.remembered)
    }

    @Test("the generations that a start found wait for the next changes")
    func start() {
        var unstored = UnstoredChanges()
        unstored.recordStart(values: Self.plan.remembered, generations: [3, 4])
        #expect(unstored.due == nil && unstored.drain(from: Self.plan).superseded == [3: nil, 4: nil])
    }
}
