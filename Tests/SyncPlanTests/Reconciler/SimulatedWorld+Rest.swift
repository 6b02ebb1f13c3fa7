// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import Fleet
import Reports

@testable import SyncPlan

extension SimulatedWorld {
    var hasWork: Bool {
        !downloads.isEmpty || publication != nil || release != nil || removal != nil || isMeasuring
            || isScanWanted || rendering != nil
    }

    mutating func finishWork() throws(Violation) {
        try endDownloads(succeeds: true)
        try endPublication(fails: false)
        try endEviction()
        try endMeasuring()
        try endRendering(succeeds: true)
        if isScanWanted { try scanLists() }
    }

    /// Lets everything come to rest, and checks that the disk then holds what the lists name, and nothing else.
    mutating func settle() throws(Violation) {
        record("from here on all goes well")
        goesWell = true
        isFolderThere = true
        isFull = false
        servers.dead = []
        try pause(false)
        leases = []
        for url in plan.pins { try handle(.pin(url: url, isPinned: false)) }
        if renders {
            // Other rules: what failed by these stays failed. Another version alone lets no document be written again.
            if chance(50) {
                rendererVersion += 1
            } else {
                changeFit()
            }
            try handle(.configured(settings))
        }
        for (name, file) in files where file == .broken { files[name] = .good([]) }
        files = files.filter { $0.value != .folder }
        for (name, file) in files {
            if case .good(let entries) = file { files[name] = .good(entries.filter { $0.icon != Sample.unusable }) }
        }
        try scanLists()
        // Ten days are longer than every delay after a failure, and than the time for which an image is fresh.
        let end = now + .seconds(10 * 86_400)
        try advance(until: end)
        // No icon is due in the next seconds, or its refresh changes nothing: the last grace ends.
        try advance(until: end + settings.cache.grace * 3)
        try checkRest()
    }

    private mutating func advance(until end: Timestamp) throws(Violation) {
        var idleWakes = 0
        for _ in 0..<20_000 {
            if hasWork {
                try finishWork()
                idleWakes = 0
                continue
            }
            guard let wake = plan.nextWake, wake <= end else {
                now = end
                return try handle(.tick)
            }
            now = wake
            let before = actionCount
            try handle(.tick)
            idleWakes = actionCount == before ? idleWakes + 1 : 0
            try expect(idleWakes < 100, "the agent wakes up again and again, and does nothing")
        }
        throw Violation("there is no end to what is to be done")
    }

    private func checkRest() throws(Violation) {
        let wanted = files.mapValues { file in
            guard case .good(let entries) = file else { return [IconURL]() }
            return entries.map(\.icon)
        }
        // What apps show whose URLs are refused.
        var kept: Set<IconURL> = []
        var keptImages: Set<Digest> = []
        guard let manifest = disk.current else { throw Violation("there is no manifest") }
        try expect(plan.isSettled && plan.status.inSync, "the agent knows that it is not done")
        let latest = now + clockOffset + UpstreamMemo.tolerance
        try expect(manifest.published <= latest, "readers refuse the manifest, which is ahead of the clock")
        try expect(disk.generations.count == 1, "generations \(disk.generations.keys.sorted()) are left")
        try expect(
            Set(manifest.lists.keys) == Set(wanted.keys),
            "the manifest names \(manifest.lists.keys.sorted()), and not \(wanted.keys.sorted())")
        try expect(Set(disk.documents.keys) == Set(manifest.lists.values.map(\.sha256)), "documents are left")
        for (name, list) in manifest.lists {
            let apps = disk.documents[list.sha256]?.apps ?? []
            try expect(apps.map(\.icon) == wanted[name], "the document of \(name) has other icons than the list")
            for app in apps {
                if let previous = app.previous, case .ready(let image) = app.state {
                    try expect(app.icon == Self.refused, "\(app.icon) shows a previous image, and has its own")
                    try expect(previous.error == "scheme-refused", "\(app.icon) failed with \(previous)")
                    kept.insert(app.icon)
                    keptImages.insert(image.sha256)
                    continue
                }
                let state: AppListDocument.State =
                    app.icon == Self.refused
                    ? .failed(error: "scheme-refused") : .ready(Sample.image("\(content(of: app.icon))"))
                try expect(app.state == state, "\(app.icon) is \(app.state), and should be \(state)")
            }
        }
        let urls = Set(wanted.values.joined()).subtracting([Self.refused])
        let names = urls.union(kept)
        try expect(Set(disk.names.keys) == names, "by-url/ has \(disk.names.keys.sorted()), and not \(names.sorted())")
        for icon in kept {
            let isShown = disk.names[icon].map(keptImages.contains) ?? false
            try expect(isShown, "the by-url/ name of \(icon) leads to no image that an app shows")
        }
        let images = Set(urls.map { Sample.image("\(content(of: $0))").sha256 }).union(keptImages)
        try expect(
            disk.images == images.union(try renditions(of: manifest)),
            "\(disk.images.subtracting(images).count) images are left that no list names")
        try expect(disk.staging.isEmpty && disk.partials.isEmpty, "staging/ has \(disk.staging) and \(disk.partials)")
        try expect(plan.isSettled && plan.status.inSync, "the agent does not know that it is done")
        var nothing = StatusReport(state: .running).downloads
        nothing.origins = []
        nothing.awaitingUpstream = 0
        nothing.pauses = []
        try expect(plan.status.downloads == nothing, "something is still to be downloaded")
    }
}
