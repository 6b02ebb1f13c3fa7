// SPDX-License-Identifier: Apache-2.0
import CacheFormat

extension AppList {
    /// The list with an entry for each unusable one whose app the last version of the list has: it keeps its last URL.
    ///
    /// A writer that loses or spoils a URL takes no image away: it is as if the new URL had not come yet. An app is known by
    /// its identity, else by its name if no other entry of either version has that.
    ///
    /// - Parameter old: The entries of the last version.
    /// - Returns: The list; the problems of kept entries say so.
    /// - Complexity: O(*n*) in the number of entries, and O(1) if none is unusable.
    package func keepingIcons(of old: [AppEntry]) -> AppList {
        guard !unusable.isEmpty, !old.isEmpty else { return self }
        // Compares texts by bytes.
        typealias Text = IconURL
        var byIdentity: [Text: [AppEntry]] = [:]
        var byName: [Text: AppEntry] = [:]
        var names: [Text: Int] = [:]
        for entry in old {
            if let id = entry.id { byIdentity[Text(id), default: []].append(entry) }
            guard let name = entry.name.map(Text.init) else { continue }
            byName[name] = entry
            names[name, default: 0] += 1
        }
        // How often an entry of this version has an identity so far, and a name in all.
        var places: [Text: Int] = [:]
        var newNames: [Text: Int] = [:]
        for name in entries.lazy.compactMap(\.name) { newNames[Text(name), default: 0] += 1 }
        for name in unusable.lazy.compactMap(\.name) { newNames[Text(name), default: 0] += 1 }
        var merged: [AppEntry] = []
        merged.reserveCapacity(entries.count + unusable.count)
        var kept: Set<Text> = []
        var next = 0
        func appendUsable(before index: Int) {
            while next < min(index, entries.count) {
                if let id = entries[next].id { places[Text(id), default: 0] += 1 }
                merged.append(entries[next])
                next += 1
            }
        }
        for entry in unusable {
            appendUsable(before: entry.index)
            var last: AppEntry?
            if let id = entry.id.map(Text.init) {
                let place = places[id, default: 0]
                places[id] = place + 1
                last = byIdentity[id].flatMap { place < $0.count ? $0[place] : nil }
            }
            if last == nil, let name = entry.name.map(Text.init), names[name] == 1, newNames[name] == 1,
                let named = byName[name], named.id == nil || entry.id == nil
            {
                last = named
            }
            guard var keeping = last else { continue }
            keeping.name = entry.name ?? keeping.name
            keeping.id = entry.id ?? keeping.id
            merged.append(keeping)
            kept.insert(Text(entry.keyPath))
        }
        appendUsable(before: entries.count)
        var list = self
        list.entries = merged
        for index in list.problems.indices where kept.contains(Text(list.problems[index].keyPath)) {
            list.problems[index].reason += "; the app keeps its last icon"
        }
        return list
    }
}
