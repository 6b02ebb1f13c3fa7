// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import IconCache
import Reports

/// Chooses events by kind and by list.
///
/// Events of icons do not say which lists name them; the cache does.
struct EventFilter {
    let kinds: [String]
    let lists: [ListName]
    let cache: IconCache
    /// The digests of all URLs that the lists have named since the start.
    ///
    /// Events of very long URLs have only the digest.
    var icons: Set<Digest> = []
    var generation: Int?

    /// The lines of the chosen events; gaps are always among them, because any event may be missing there.
    mutating func chosen(of lines: [String]) -> [String] {
        if !lists.isEmpty { readIcons() }
        let decoder = JSONDecoder()
        return lines.filter { line in
            guard let event = try? decoder.decode(EventRecord.self, untrusted: Data(line.utf8)) else { return false }
            return chooses(event)
        }
    }

    func chooses(_ event: EventRecord) -> Bool {
        if event.kind == AgentEvent.Kind.gap.word { return true }
        guard kinds.isEmpty || kinds.contains(event.kind) else { return false }
        guard !lists.isEmpty else { return true }
        if let list = event.list { return lists.contains(list) }
        let icon = event.url.map { Digest.of($0.text) } ?? event.urlSHA256.flatMap { Digest(hex: $0) }
        return icon.map(icons.contains) ?? false
    }

    /// Adds the URLs that the newest generation names; does nothing without a cache.
    private mutating func readIcons() {
        guard let snapshot = try? cache.snapshot() else { return }
        defer { snapshot.end() }
        guard snapshot.manifest.generation != generation else { return }
        generation = snapshot.manifest.generation
        for list in lists {
            let apps = (try? snapshot.document(of: list))?.apps ?? []
            icons.formUnion(apps.lazy.map { Digest.of($0.icon.text) })
        }
    }
}
