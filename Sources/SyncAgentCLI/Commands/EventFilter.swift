// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import IconCache
import Reports

/// Chooses events by kind and by list.
///
/// Events of icons do not say which lists name them; the cache does.
struct EventFilter {
    /// The most events that are kept for a later generation.
    private static let most = 1000

    let kinds: [String]
    let lists: [ListName]
    let cache: IconCache
    /// The digests of all URLs that the lists have named since the start.
    ///
    /// Events of very long URLs have only the digest.
    var icons: Set<Digest> = []
    var generation: Int?
    /// Events of icons that the lists do not name: those of a new list precede the first generation with it.
    ///
    /// They are kept for two generations, because the next one may have been begun before that list was read.
    var kept: (older: [String], newer: [String]) = ([], [])

    /// The lines of the chosen events; gaps are always among them, because any event may be missing there.
    mutating func chosen(of lines: [String]) -> [String] {
        let decoder = JSONDecoder()
        func event(_ line: String) -> EventRecord? {
            try? decoder.decode(EventRecord.self, untrusted: Data(line.utf8))
        }
        func isChosen(_ line: String) -> Bool { event(line).map(chooses) ?? false }
        var chosen: [String] = []
        if !lists.isEmpty, readIcons() {
            chosen = (kept.older + kept.newer).filter(isChosen)
            kept = (kept.newer.filter { !isChosen($0) }, [])
        }
        for line in lines {
            guard let event = event(line) else { continue }
            if chooses(event) { chosen.append(line) } else if isOfIcon(event) { kept.newer.append(line) }
        }
        kept.newer = kept.newer.suffix(Self.most)
        return chosen
    }

    func chooses(_ event: EventRecord) -> Bool {
        if event.kind == AgentEvent.Kind.gap.word { return true }
        guard isOfKind(event) else { return false }
        guard !lists.isEmpty else { return true }
        if let list = event.list { return lists.contains(list) }
        return icon(of: event).map(icons.contains) ?? false
    }

    private func isOfKind(_ event: EventRecord) -> Bool { kinds.isEmpty || kinds.contains(event.kind) }

    /// Whether a list that names the event's icon would choose it.
    private func isOfIcon(_ event: EventRecord) -> Bool {
        !lists.isEmpty && isOfKind(event) && event.list == nil && icon(of: event) != nil
    }

    private func icon(of event: EventRecord) -> Digest? {
        event.url.map { Digest.of($0.text) } ?? event.urlSHA256.flatMap { Digest(hex: $0) }
    }

    /// Adds the URLs that the newest generation names; `false` if that is known already, or there is none.
    private mutating func readIcons() -> Bool {
        guard let snapshot = try? cache.snapshot() else { return false }
        defer { snapshot.end() }
        guard snapshot.manifest.generation != generation else { return false }
        generation = snapshot.manifest.generation
        for list in lists {
            let apps = (try? snapshot.document(of: list))?.apps ?? []
            icons.formUnion(apps.lazy.map { Digest.of($0.icon.text) })
        }
        return true
    }
}
