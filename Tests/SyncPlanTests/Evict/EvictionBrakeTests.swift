// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@testable import AgentSettings
@testable import SyncPlan

@Suite("An eviction that looks like a mistake is held")
struct EvictionBrakeTests {
    private static let start = Sample.start

    private static func brake(percent: Int = 50, images: Int = 20) -> EvictionBrake {
        var settings = Settings().eviction
        settings.holdAbove = HoldThreshold(percent: percent, images: images)
        return EvictionBrake(settings)
    }

    @Test(
        "an eviction is held above both the share and the number of images",
        arguments: [
            (retired: 20, total: 20, isHeld: false), (21, 21, true), (21, 41, true), (21, 42, false), (50, 100, false),
            (51, 100, true), (0, 0, false), (1000, 2001, false), (1001, 2001, true),
        ])
    func threshold(retired: Int, total: Int, isHeld: Bool) {
        var brake = Self.brake()
        brake.recordChange(retiring: retired, of: total, leaving: total - retired, generation: 7, at: Self.start)
        let hold = EvictionBrake.Hold(since: Self.start, generation: 7, images: retired, total: total)
        #expect(brake.heldNow == (isHeld ? hold : nil))
        #expect(brake.end == (isHeld ? Self.start + .seconds(86_400) : nil))
    }

    @Test("a hold ends when it is confirmed, when it is old, and when nothing of it is left")
    func end() {
        var held = Self.brake()
        held.recordChange(retiring: 30, of: 30, leaving: 0, generation: 1, at: Self.start)
        var brake = held
        brake.confirm()
        #expect(brake.heldNow == nil && brake.holds.map(\.isConfirmed) == [true])

        brake = held
        brake.advance(to: Self.start + .seconds(86_399))
        #expect(brake.heldNow != nil)
        brake.advance(to: Self.start + .seconds(86_400))
        #expect(brake.heldNow == nil)

        brake = held
        brake.recordSleep(.seconds(3600))
        brake.advance(to: Self.start + .seconds(89_999))
        #expect(brake.heldNow != nil)
        brake.advance(to: Self.start + .seconds(90_000))
        #expect(brake.heldNow == nil)

        brake = held
        _ = brake.review { $0 == 0...1 }
        #expect(brake.holds.isEmpty)
    }

    @Test("a change that comes after a confirmed one waits for its own confirmation")
    func another() {
        var brake = Self.brake()
        brake.recordChange(retiring: 30, of: 30, leaving: 0, generation: 1, at: Self.start)
        brake.confirm()
        brake.recordChange(retiring: 5, of: 40, leaving: 35, generation: 2, at: Self.start)
        #expect(brake.heldNow == nil && brake.held == nil)
        brake.recordChange(retiring: 30, of: 40, leaving: 10, generation: 3, at: Self.start + .seconds(1))
        #expect(brake.heldNow?.generation == 3 && brake.held == 2...3)
        // If nothing was published since, the same generation retains both.
        brake.confirm()
        brake.recordChange(retiring: 30, of: 40, leaving: 10, generation: 3, at: Self.start)
        #expect(brake.held == 0...3)
    }

    @Test("each held change ends at its own time, and several are told as one")
    func several() {
        var brake = Self.brake()
        brake.recordChange(retiring: 60, of: 100, leaving: 40, generation: 1, at: Self.start)
        brake.recordChange(retiring: 30, of: 40, leaving: 10, generation: 3, at: Self.start + .seconds(60))
        let day = Self.start + .seconds(86_400)
        #expect(brake.heldNow?.images == 90 && brake.heldNow?.total == 100)
        #expect(brake.held == 0...3 && brake.end == day)
        #expect((0...4).map(brake.end) == [day, day, day + .seconds(60), day + .seconds(60), nil])
        var put = brake
        _ = put.review { $0 == 2...3 }
        #expect(put.heldNow?.images == 60)
        put = brake
        _ = put.review { $0 == 0...1 }
        #expect(put.held == 0...3 && put.end == day + .seconds(60))
        brake.advance(to: day)
        #expect(brake.held == 2...3 && brake.heldNow?.images == 30 && brake.end(of: 1) == nil)
        brake.recordSleep(.seconds(60))
        brake.advance(to: day + .seconds(119))
        #expect(brake.held == 2...3)
        brake.advance(to: day + .seconds(120))
        #expect(brake.held == nil && brake.holds.map(\.generation) == [3])
        // Two changes between two generations are one.
        brake.recordChange(retiring: 60, of: 100, leaving: 40, generation: 5, at: day)
        brake.recordChange(retiring: 30, of: 40, leaving: 10, generation: 5, at: day)
        #expect(brake.holds.last?.images == 90 && brake.holds.count == 2)
    }

    @Test("a change of settings ends the hold of what they would not hold")
    func settings() {
        var brake = Self.brake()
        brake.recordChange(retiring: 60, of: 100, leaving: 40, generation: 1, at: Self.start)
        for (percent, isHeld) in [(59, true), (60, false)] {
            brake.configure(Self.brake(percent: percent).settings)
            #expect((brake.held != nil) == isHeld)
        }
        brake.configure(Self.brake().settings)
        #expect(brake.held == nil && brake.holds.map(\.isConfirmed) == [true])
    }

    @Test("a change that comes after a held one is judged by what that left")
    func afterHold() {
        var brake = Self.brake()
        brake.recordChange(retiring: 60, of: 62, leaving: 2, generation: 1, at: Self.start)
        for (number, shown) in stride(from: 92, through: 52, by: -10).enumerated() {
            brake.recordDecline(
                from: shown + 10, to: shown, retired: 70 + 10 * number, generation: 2 + number, at: Self.start)
            #expect(brake.holds.count == 1)
        }
        brake.recordDecline(from: 52, to: 42, retired: 120, generation: 7, at: Self.start)
        #expect(brake.holds.map(\.generation) == [7] && brake.held == 0...7)
        #expect(brake.heldNow?.images == 120 && brake.heldNow?.total == 162)
        // A hold that was prolonged is not prolonged again.
        brake.recordDecline(from: 42, to: 12, retired: 150, generation: 9, at: Self.start + .seconds(60))
        #expect(brake.holds.map(\.generation) == [7, 9] && brake.end == Self.start + .seconds(86_400))
        let began = brake.review { _ in true }.map(\.since)
        #expect(began == [Self.start + .seconds(-86_400), Self.start + .seconds(60)])
    }

    @Test("a change while publications fail is held with the generation that is on disk")
    func unpublished() {
        var brake = Self.brake()
        brake.recordChange(retiring: 60, of: 100, leaving: 40, generation: 5, at: Self.start)
        brake.confirm()
        brake.recordChange(retiring: 30, of: 40, leaving: 10, generation: 8, published: 5, at: Self.start)
        #expect(brake.held == 0...8)
        brake.recordChange(retiring: 30, of: 40, leaving: 10, generation: 9, published: 6, at: Self.start)
        #expect(brake.held == 0...9 && brake.heldNow?.images == 60)
        brake.recordChange(retiring: 30, of: 40, leaving: 10, generation: 12, published: 10, at: Self.start)
        #expect(brake.holds.map(\.generation) == [9, 12])
    }

    /// Each step has the images shown before and after a change, and the retired ones on disk then.
    @Test(
        "several changes are held like one if what is shown declines, and what is retired is still on disk",
        arguments: [
            ([(30, 20, 10), (20, 10, 20), (10, 9, 21)], 21),
            // The images of the first change are gone.
            ([(30, 20, 10), (20, 10, 10), (10, 0, 10)], nil),
            // As many come as leave.
            ([(40, 30, 10), (40, 30, 20), (40, 30, 30), (40, 30, 40)], nil),
            // The list was longer once, and has less turnover than it has apps.
            ([(100, 60, 40), (60, 40, 20), (40, 30, 60), (40, 30, 20)], nil),
            // More come, and leave one after the other.
            ([(10, 9, 1), (60, 40, 21), (40, 28, 33)], 32),
        ] as [([(before: Int, shown: Int, retired: Int)], Int?)])
    func decline(steps: [(before: Int, shown: Int, retired: Int)], held: Int?) {
        var brake = Self.brake()
        for (number, step) in steps.enumerated() {
            #expect(brake.holds.isEmpty)
            brake.recordDecline(
                from: step.before, to: step.shown, retired: step.retired, generation: number, at: Self.start)
        }
        #expect(brake.heldNow?.images == held)
        guard held != nil else { return }
        #expect(brake.heldNow?.generation == steps.count - 1)
        brake.confirm()
        let confirmed = brake.holds
        brake.recordDecline(from: 9, to: 8, retired: 99, generation: 9, at: Self.start)
        #expect(brake.holds == confirmed)
        brake.recordUnpinned(99, shown: 8, retired: 1)
        #expect(brake.peak == 0)
        _ = brake.review { _ in true }
        brake.recordDecline(from: 8, to: 7, retired: 99, generation: 9, at: Self.start)
        #expect(brake.holds.isEmpty, "what was confirmed does not count again")
    }

    @Test(
        "a hold threshold reads back as people write it",
        arguments: [
            ("50%", HoldThreshold(percent: 50, images: 20)), ("0%", HoldThreshold(percent: 0, images: 20)),
            ("30% and 5 images", HoldThreshold(percent: 30, images: 5)),
            (" 100 %  and  0 images ", HoldThreshold(percent: 100, images: 0)), ("", nil), ("50", nil), ("101%", nil),
            ("-1%", nil), ("50% and 20", nil), ("50% and images", nil), ("50% and 20 images and 3 images", nil),
            ("x%", nil), ("5.5%", nil), ("% and 20 images", nil), ("99999999999999999999%", nil),
        ] as [(String, HoldThreshold?)])
    func text(text: String, threshold: HoldThreshold?) {
        #expect(HoldThreshold(text) == threshold)
        if let threshold { #expect(HoldThreshold(threshold.description) == threshold) }
    }
}
