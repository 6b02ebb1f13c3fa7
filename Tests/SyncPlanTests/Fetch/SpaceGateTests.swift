import AgentSettings
// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import Testing

@testable import SyncPlan

@Suite("The gate that is shut while there is no room")
struct SpaceGateTests {
    private static let start = Sample.start
    private static let full = Shortage(bytes: 100, isGeneral: true, reason: "full")

    private static func tooLarge(_ bytes: Int) -> Shortage {
        Shortage(bytes: bytes, isGeneral: false, reason: "\(bytes) do not fit")
    }

    /// A file system with room for so many bytes above a reserve of 64 KiB.
    private static func room(_ bytes: Int) -> Result<DiskSpace, Shortage> {
        .success(DiskSpace(folder: "/cache", bytes: .init(free: 64 << 10 + bytes, total: 1 << 30)))
    }

    private static let reserve = SpaceReserve.percent(0)

    @Test("an image that alone does not fit shuts nothing, and waits until it does")
    func alone() {
        var gate = SpaceGate()
        gate.record(Self.tooLarge(500_000), of: "a", at: Self.start)
        #expect(gate.isOpen && gate.reason == "500000 do not fit")
        for (second, room, admitted) in [(5, 100_000, [] as [IconURL]), (10, 499_999, []), (15, 500_000, ["a"])] {
            let now = Self.start + .seconds(second)
            #expect(gate.nextLook == now && gate.beginTrial(at: now + .milliseconds(-1)) == nil)
            #expect(gate.beginTrial(at: now) == 500_000 && gate.nextLook == nil)
            #expect(gate.apply(Self.room(room), above: Self.reserve, at: now) == admitted && gate.isOpen)
        }
        #expect(gate.reason == nil && gate.nextLook == nil)
    }

    @Test("the gate is closed if nothing fits, checks every 5 s, and opens once an image of usual size fits")
    func shut() {
        var gate = SpaceGate()
        gate.record(Self.full, of: "a", at: Self.start)
        gate.record(Self.tooLarge(80_000), of: "b", at: Self.start + .seconds(1))
        #expect(!gate.isOpen && gate.reason == "full")
        var now = Self.start
        for room in Array(repeating: 0, count: 100) + [DiskSpace.usual - 1] {
            now = now + .seconds(5)
            #expect(gate.beginTrial(at: now) == 100)
            #expect(gate.apply(Self.room(room), above: Self.reserve, at: now).isEmpty && !gate.isOpen)
        }
        now = now + .seconds(5)
        #expect(gate.beginTrial(at: now) == 100)
        #expect(gate.apply(Self.room(DiskSpace.usual), above: Self.reserve, at: now) == ["a"])
        #expect(gate.isOpen && gate.reason?.contains("do not fit") == true)
        now = now + .seconds(5)
        #expect(gate.beginTrial(at: now) == 80_000)
        #expect(gate.apply(Self.room(80_000), above: Self.reserve, at: now) == ["b"])
        #expect(gate.reason == nil && gate.nextLook == nil)
    }

    @Test("a trial that fails keeps the gate closed, whatever space the file system reports")
    func quota() {
        var gate = SpaceGate()
        gate.record(Self.full, of: "a", at: Self.start)
        let now = Self.start + .seconds(5)
        _ = gate.beginTrial(at: now)
        let failure = Shortage(bytes: 100, isGeneral: true, reason: "quota exceeded")
        #expect(gate.apply(.failure(failure), above: Self.reserve, at: now).isEmpty)
        #expect(!gate.isOpen && gate.reason == "quota exceeded" && gate.nextLook == now + .seconds(5))
    }

    @Test("the gate admits the smallest images first, and only as many as fit together")
    func together() {
        var gate = SpaceGate()
        for (url, bytes): (IconURL, Int) in [("a", 300_000), ("b", 100_000), ("c", 200_000), ("d", 0)] {
            gate.record(Self.tooLarge(bytes), of: url, at: Self.start)
        }
        let now = Self.start + .seconds(5)
        _ = gate.beginTrial(at: now)
        #expect(gate.apply(Self.room(599_999), above: Self.reserve, at: now) == ["d", "b", "c"])
        #expect(gate.isOpen && gate.needs == ["a": 300_000] && gate.reason != nil && gate.nextLook == now + .seconds(5))
    }

    @Test("images that repeatedly did not fit are admitted more and more rarely, until a publication")
    func again() {
        var gate = SpaceGate()
        var now = Self.start
        for delay in [5, 10, 20, 40, 60, 60] {
            gate.record(Self.full, of: "a", at: now)
            #expect(gate.nextLook == now + .seconds(delay))
            now = now + .seconds(delay)
            _ = gate.beginTrial(at: now)
            #expect(gate.apply(Self.room(100_000), above: Self.reserve, at: now) == ["a"])
        }
        gate.recordPublished()
        gate.record(Self.full, of: "a", at: now)
        #expect(gate.nextLook == now + .seconds(5))
    }

    @Test("a publication that did not fit is tried as a whole, for a minute")
    func lost() {
        var gate = SpaceGate()
        let lost = Shortage(bytes: 1_000_000, isGeneral: true, reason: "full")
        gate.recordLost(lost, hadImages: true, at: Self.start)
        gate.record(Shortage(bytes: 6000, isGeneral: true, reason: "full"), of: "a", at: Self.start)
        var now = Self.start + .seconds(5)
        #expect(gate.beginTrial(at: now) == 1_000_000)
        #expect(gate.apply(Self.room(999_999), above: Self.reserve, at: now).isEmpty && !gate.isOpen)
        now = Self.start + .seconds(60)
        #expect(gate.beginTrial(at: now) == 6000)
        #expect(gate.apply(Self.room(999_999), above: Self.reserve, at: now) == ["a"])
    }

    @Test("the gate does not wait for room for an unwanted image")
    func forget() {
        var gate = SpaceGate()
        gate.record(Self.tooLarge(100), of: "a", at: Self.start)
        gate.record(Self.tooLarge(200), of: "b", at: Self.start)
        gate.forget("a")
        #expect(gate.reason != nil && gate.nextLook != nil)
        gate.forget("b")
        #expect(gate.reason == nil && gate.nextLook == nil)
        gate.record(Self.full, of: nil, at: Self.start)
        #expect(!gate.isOpen && gate.needs.isEmpty)
    }

    @Test("a removal makes the gate check at once, but only if something waits for room")
    func prioritize() {
        var gate = SpaceGate()
        gate.prioritize(at: Self.start)
        #expect(gate.nextLook == nil)
        gate.record(Self.full, of: "a", at: Self.start)
        gate.prioritize(at: Self.start + .seconds(1))
        #expect(gate.beginTrial(at: Self.start + .seconds(1)) != nil)
    }

    @Test("an image that does not fit during a check begins no other check")
    func meanwhile() {
        var gate = SpaceGate()
        gate.record(Self.tooLarge(100), of: "a", at: Self.start)
        let now = Self.start + .seconds(5)
        _ = gate.beginTrial(at: now)
        gate.record(Self.full, of: "b", at: now)
        #expect(gate.nextLook == nil && !gate.isOpen)
        #expect(gate.apply(Self.room(0), above: Self.reserve, at: now).isEmpty)
        #expect(gate.nextLook == now + .seconds(5))
    }
}
