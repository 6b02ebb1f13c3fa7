// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

@testable import SyncPlan

extension SimulatedWorld {
    mutating func changeLists(rename: Bool = false) {
        guard let name = Self.listNames.randomElement(using: &generator) else { return }
        if rename, let other = Self.listNames.randomElement(using: &generator), files[other] == nil {
            files[other] = files.removeValue(forKey: name)
            record("\(name) is renamed to \(other)")
            return
        }
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<3: files[name] = nil
        case 3: files[name] = chance(50) ? .broken : .folder
        default:
            files[name] = .good(changed(files[name]))
        }
        record("\(name) becomes \(files[name]?.summary ?? "nothing")")
    }

    /// The next version of a list: apps come, go, and get other URLs; some have the same one.
    private mutating func changed(_ file: ListFile?) -> [AppEntry] {
        var entries: [AppEntry] = []
        if case .good(let old) = file { entries = old.filter { _ in !chance(20) } }
        for index in entries.indices where chance(40) {
            if let url = Self.urls.randomElement(using: &generator) { entries[index].icon = url }
        }
        for index in entries.indices where chance(8) { entries[index].icon = Sample.unusable }
        for app in Self.apps where chance(25) && !entries.contains(where: { $0.id == "\(app)" }) {
            if let url = Self.urls.randomElement(using: &generator) {
                entries.append(AppEntry(name: "App", id: "\(app)", icon: url))
            }
        }
        return chance(30) ? entries.shuffled(using: &generator) : entries
    }

    /// Takes note of the apps that are not in a list now.
    private mutating func recordDepartures() {
        for list in Self.listNames {
            var present: Set<String?> = []
            if case .good(let entries) = files[list] { present = Set(entries.map(\.id)) }
            if files[list] == .broken || files[list] == .folder { continue }
            for app in Self.apps where !present.contains("\(app)") {
                departed.now.insert(ListedApp(list: list, id: "\(app)"))
            }
        }
    }

    /// An image was lost, which the agent notices when it has taken in the lists.
    mutating func allowAllLosses() {
        for list in Self.listNames { for app in Self.apps { departed.now.insert(ListedApp(list: list, id: "\(app)")) } }
    }

    mutating func scanLists() throws(Violation) {
        isScanWanted = false
        if isFolderThere { recordDepartures() }
        guard isFolderThere else {
            record("the folder is looked at, and is not there")
            return try handle(.scanned(.unavailable(reason: "it is not mounted")))
        }
        var changed: [ListName: ListReading] = [:]
        for (name, file) in files where seen[name] != file {
            switch file {
            case .good(let entries): changed[name] = Sample.reading(of: entries)
            case .broken: changed[name] = ListReading(source: nil, verdict: .failure(.emptyFile))
            case .folder: break
            }
        }
        seen = files
        hasScanned = true
        record("the folder is looked at")
        var folder = Sample.folder
        folder.others = Set(files.filter { $0.value == .folder }.keys)
        let present = Set(files.keys).subtracting(folder.others)
        try handle(.scanned(.listed(folder, present: present, changed: changed)))
    }
}
