// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

@testable import SyncPlan

extension SimulatedWorld {
    mutating func endPublication(fails: Bool, isDeferred: Bool = false) throws(Violation) {
        guard let publication else { return }
        self.publication = nil
        defer { lostInFlight = [] }
        if isDeferred, !publication.ignoresRoom, !publication.documents.isEmpty {
            record("there is no room for the documents of generation \(publication.generation)")
            let sizes = Dictionary(publication.documents.map { ($0.list, $0.json.utf8.count) }) { a, _ in a }
            let bytes = sizes.values.reduce(0, +)
            let room = Int.random(in: 0..<bytes, using: &generator)
            let shortage = Self.shortage(bytes: bytes, isGeneral: false)
            return try handle(.published(.noRoom(shortage, room: room, documents: sizes)))
        }
        record("generation \(publication.generation) is \(fails ? "not " : "")published")
        if fails, chance(50) {
            let names = Set((publication.moves + publication.discards).map(\.name))
            let lost = names.filter { _ in chance(20) }
            let unplaced = names.filter { _ in chance(30) }.subtracting(lost)
            let unnamed = Set(publication.links.lazy.map(\.url)).filter { _ in chance(10) }
            return try handle(
                .published(disk.refuse(publication, lost: lost, unplaced: unplaced, unnamed: unnamed)))
        }
        if fails || lacksLinked(publication) {
            let isFull = isFull || !goesWell && chance(20)
            isShut = isShut || isFull
            return try handle(.published(disk.fail(publication, isFull: isFull)))
        }
        let (last, images) = (disk.current, disk.images)
        let old = last?.generation
        var result = try disk.publish(publication, afterLossOf: lostInFlight)
        if chance(30), case .published(let manifest, var written, let doubt) = result {
            // Its documents are as long as that of the largest list.
            written.documents = written.documents.mapValues { _ in 8 << 20 }
            result = .published(manifest, written: written, doubt: doubt)
        }
        if case .refused(let refusal) = result {
            record("it is not: \(refusal.reason)")
            if goesWell { failedChecks += 1 }
            try expect(failedChecks < 2, "a publication fails again: \(refusal.reason)")
            return try handle(.published(result))
        }
        failedChecks = 0
        newestGeneration = publication.generation
        try checkImagesKept(from: last, images, by: publication)
        try checkPurge(publication)
        if let old { superseded[old] = now }
        // What apps show in place of it says nothing of an icon.
        let staged = Set((publication.moves + publication.discards).map(\.name))
        for (url, _, _) in publication.links where plan.icon(url)?.staged.map({ staged.contains($0.name) }) == true {
            recordFresh(url)
        }
        try handle(.published(result))
    }

    /// Whether a name cannot be linked because a file was lost meanwhile.
    func lacksLinked(_ publication: Publication) -> Bool {
        publication.links.contains { link in
            disk.image(at: link.path) == nil && lostInFlight.contains { link.path.contains($0.hex) }
        }
    }

    mutating func endEviction() throws(Violation) {
        if let release {
            self.release = nil
            record("generations \(release.map(\.generation)) are taken away, but for \(leases.sorted())")
            try handle(disk.release(release, leases: leases))
        } else if let (plan, isDone) = removal {
            if !isDone {
                var failed = RetirementPlan()
                if !goesWell, chance(10) {
                    failed.images = plan.images.filter { _ in chance(50) }
                    failed.urls = plan.urls.filter { _ in chance(50) }
                    failed.documents = plan.documents.filter { _ in chance(50) }
                }
                var gone = plan
                gone.subtract(failed)
                record("retired files are removed, but for \(failed.images.count) images")
                try disk.remove(gone)
                // Nothing is known any more of an icon that is evicted, also where its image stays.
                for url in plan.urls { fresh[url] = nil }
                removal?.isDone = true
                unremoved = failed
            } else {
                record("the evictor is done")
                removal = nil
                try handle(.removed(failed: unremoved))
            }
        }
    }

    static func shortage(bytes: Int, isGeneral: Bool = true) -> Shortage {
        Shortage(bytes: bytes, isGeneral: isGeneral, reason: "full")
    }

    mutating func changeSpace() throws(Violation) {
        isFull.toggle()
        record(isFull ? "the disk is full" : "there is room on the disk")
        try endMeasuring()
    }

    mutating func endMeasuring() throws(Violation) {
        guard isMeasuring else { return }
        isMeasuring = false
        record("the disk is looked at")
        guard isFull else {
            isShut = false
            return try handle(.space(.success(SimulatedDisk.space(free: 1 << 20))))
        }
        let isSeen = chance(50)
        try handle(
            .space(isSeen ? .success(SimulatedDisk.space(free: 100)) : .failure(Self.shortage(bytes: 4096))))
    }

    /// Somebody empties the cache folder, which the agent notices when it looks at it.
    mutating func emptyFolder() throws(Violation) {
        guard hasScanned, isFolderThere, !renders, publication == nil, release == nil, removal == nil else { return }
        record("the cache folder is emptied")
        let staging = disk.staging
        (disk, leases, superseded, waived, fresh) = (SimulatedDisk(), [], [:], [], [:])
        disk.staging = staging
        allowAllLosses()
        departed.before.formUnion(departed.now)
        try scanLists()
    }

    mutating func evict() throws(Violation) {
        record("what is retired is to go")
        waived.formUnion(disk.generations.keys.filter { $0 != disk.current?.generation })
        try handle(.evict(isConfirmed: chance(50)))
    }

    mutating func changeLeases() {
        guard let number = disk.generations.keys.sorted().randomElement(using: &generator) else { return }
        if leases.remove(number) == nil { leases.insert(number) }
        record("readers hold generations \(leases.sorted())")
    }
}
