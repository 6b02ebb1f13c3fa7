// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules
import Reports

@testable import SyncPlan

extension AgentScenario {
    /// Scans the lists folder, in which nothing changed but what is gone from it.
    mutating func scan() throws {
        isScanWanted = false
        try handle(.scanned(.listed(folder, present: Set(lists.keys), changed: [:])))
    }

    /// Changes lists (`nil` removes one), or puts rejected files in their place, and scans the folder.
    ///
    /// What is missing from it has been for long, unless it has just vanished.
    mutating func scan(
        _ changes: [ListName: [IconURL]?], rejected: [ListName: ListRejection] = [:], waits: Bool = true
    ) throws {
        for (name, urls) in changes { lists[name] = urls }
        for name in rejected.keys { lists[name] = [] }
        var changed = changes.compactMapValues { $0.map(Sample.reading) }
        changed.merge(rejected.mapValues { ListReading(source: nil, verdict: .failure($0)) }) { $1 }
        let names = Set(lists.keys)
        if waits, plan.status.lists.contains(where: { !names.contains($0.name) && $0.name != "pins" }) {
            var earlier = folder
            earlier.listed = now + .seconds(-3600)
            try handle(.scanned(.listed(earlier, present: names, changed: [:])))
        }
        try handle(.scanned(.listed(folder, present: names, changed: changed)))
    }

    /// Adds a list of one URL with the digest that a word stands for, or with none.
    mutating func scan(_ name: ListName, _ url: IconURL, expecting word: String?) throws {
        try scan(name, apps: [AppEntry(icon: url, expected: word.map(Digest.of))])
    }

    /// Adds a list of apps.
    mutating func scan(_ name: ListName, apps: [AppEntry]) throws {
        lists[name] = apps.map(\.icon).filter { $0 != Sample.unusable }
        let text = apps.map { "\($0.id ?? "") \($0.icon) \($0.expected.map { "\($0)" } ?? "")" }
        let source = Sample.source(text.map { IconURL($0) })
        let reading = ListReading(source: source, verdict: Sample.verdict(of: apps))
        try handle(.scanned(.listed(folder, present: Set(lists.keys), changed: [name: reading])))
    }

    /// Has the app of `1.plist` show the image of its first URL, because that of its second one cannot be downloaded.
    mutating func showLastImage(_ word: String, of first: IconURL, insteadOf second: IconURL) throws {
        try scan("1.plist", apps: [AppEntry(id: "m", icon: first)])
        try finish(first, with: word)
        try finishJobs()
        try scan("1.plist", apps: [AppEntry(id: "m", icon: second)])
        try finishAll(.failed(.status(503)))
        try finishJobs()
    }

    /// Adds a file that names the images in the folder of relative icon names.
    mutating func scan(_ name: ListName, images: Set<IconURL>) throws {
        lists[name] = []
        let source = Sample.source(images.sorted())
        let reading = ListReading(source: source, verdict: .success(AppList(images: images)))
        try handle(.scanned(.listed(folder, present: Set(lists.keys), changed: [name: reading])))
    }

    /// Replaces a list by a file that is rejected.
    mutating func spoil(_ name: ListName) throws {
        try scan([:], rejected: [name: .emptyFile])
    }
}
