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

    /// Sets the wall clock, back as well; it is right again when the agent starts.
    mutating func setClock() throws(Violation) {
        let errors: [Double] = [-720, -0.5, 0, 0.5, 9600]
        let hours = errors.randomElement(using: &generator) ?? 0
        clockOffset = .seconds(3600) * hours
        record("the clock is \(hours) h ahead")
        try handle(.clockSet(offset: clockOffset))
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
        if let publication, chance(50), !lacksLinked(publication) {
            if let old = disk.current?.generation { superseded[old] = now }
            let (last, images) = (disk.current, disk.images)
            // What a purge had no room to replace is replaced now, and the agent does not know.
            if let last { lastPurge?.received.formUnion(disk.images(of: last).map(\.sha256)) }
            _ = try disk.publish(publication)
            try checkImagesKept(from: last, images, by: publication)
            if disk.current?.generation == publication.generation {
                newestGeneration = publication.generation
                try checkPurge(publication)
            }
        }
        for url in downloads.keys.sorted() { leavePart(of: url, after: .cancelled) }
        (publication, release, removal, leases, seen, downloads) = (nil, nil, nil, [], [:], [:])
        (isMeasuring, isShut, isScanWanted, inspection) = (false, false, false, nil)
        (rendering, naming, clockOffset) = (nil, nil, .zero)
        (hasScanned, lostInFlight) = (false, [])
        // A purge that ended before its generation leaves everything as it was.
        if let lastPurge, disk.current?.generation ?? 0 <= lastPurge.generation { self.lastPurge = nil }
        // What its documents name is there, also if that of a list could not be published since the purge.
        if let current = disk.current {
            lastPurge?.received.formUnion(disk.images(of: current).map(\.sha256))
        }
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
        for (name, known) in plan.knownLists where name != Reconciler.pinList {
            let source = Sample.source(of: known.list.entries)
            try expect(known.sha256 == source.sha256, "\(name) is taken for known, and says something else")
        }
        try scanLists()
    }
}
