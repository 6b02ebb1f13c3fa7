// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules

@testable import SyncPlan

extension SimulatedWorld {
    mutating func passTime() throws(Violation) {
        let limits: [Duration] = [.milliseconds(100), .seconds(5), .seconds(60), .seconds(3600), .seconds(86_400)]
        let limit = limits.randomElement(using: &generator) ?? .seconds(1)
        let next = now + limit * Double.random(in: 0...1, using: &generator)
        now = chance(50) ? max(now, min(next, plan.nextWake ?? next)) : next
        try handle(.tick)
    }

    mutating func sleep() throws(Violation) {
        let time = Duration.seconds(3600) * Double.random(in: 0...10, using: &generator)
        record("the system sleeps for \(time.components.seconds) s")
        now = now + time
        superseded = superseded.mapValues { $0 + time }
        memory.recordSleep(time)
        try handle(.slept(time))
    }

    mutating func pause(_ isPaused: Bool) throws(Violation) {
        record(isPaused ? "downloads are paused" : "downloads go on")
        self.isPaused = isPaused
        try handle(isPaused ? .pause(Pause()) : .resume(nil))
    }

    /// Ends the agent as a person does.
    mutating func stop() throws(Violation) {
        record("the agent is asked to end")
        try handle(.stopping)
        while !plan.isSettled {
            try expect(hasWork, "the agent waits for nothing, and does not end")
            try finishWork()
        }
        try expect(downloads.isEmpty, "downloads outlive the agent")
        store(plan.drainMemoChanges())
        try restart(after: "its end")
    }

    mutating func restart(after event: String) throws(Violation) {
        record("the agent starts again after \(event)")
        if let (plan, isDone) = removal, !isDone, chance(50) { try disk.remove(plan) }
        if let publication, chance(50) {
            if let old = disk.current?.generation { superseded[old] = now }
            let (last, images) = (disk.current, disk.images)
            _ = try disk.publish(publication)
            try checkImagesKept(from: last, images, by: publication)
        }
        for url in downloads.keys.sorted() { leavePart(of: url, after: .cancelled) }
        (publication, release, removal, leases, seen, downloads) = (nil, nil, nil, [], [:], [:])
        (isMeasuring, isShut, isScanWanted, inspection) = (false, false, false, nil)
        (rendering, naming) = (nil, nil)
        hasScanned = false
        if chance(20), let image = disk.images.sorted(by: { $0.hex < $1.hex }).randomElement(using: &generator) {
            record("\(image) was lost")
            disk.images.remove(image)
            allowAllLosses()
            fresh = fresh.filter { $0.value.image != image }
        }
        servers.forgetDelays()
        if event == Self.crash {
            fresh = [:]
            servers.forget()
        }
        if renders, chance(20) { changeFit() }
        var restored = disk.restore()
        restored.hasRenditionNames = !renditionNames.isEmpty
        memory.restore(to: &restored)
        // What no generation names is not known to be there.
        let named = disk.namedImages
        fresh = fresh.filter { named[$0.key]?.contains($0.value.image) ?? false }
        plan = Reconciler(settings: settings, seed: generator.next(), restored: restored, now: now)
        for (name, known) in plan.knownLists {
            let source = Sample.source(of: known.list.entries)
            try expect(known.sha256 == source.sha256, "\(name) is taken for known, and says something else")
        }
        try scanLists()
    }
}
