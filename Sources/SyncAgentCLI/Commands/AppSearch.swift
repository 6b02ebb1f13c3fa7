// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CacheFormat
import IconCache

extension IconCache {
    /// The entry of the app that the command line names, in one list or in all.
    ///
    /// - Throws: Exit code 1 if no app has the name; its message suggests a near one.
    func app(named name: String, in list: ListName? = nil) throws -> AppListDocument.App {
        guard let entry = try entry(forApp: name, in: list) else { throw try missing(name, in: list) }
        return entry
    }

    /// The icons of all apps with this name, in any list, sorted by the lists' names; empty if the cache cannot be
    /// read.
    func icons(ofApp name: String) throws -> [IconURL] {
        guard let snapshot = try? snapshot() else { return [] }
        defer { snapshot.end() }
        var seen: Set<IconURL> = []
        return try snapshot.documents().flatMap { $0.apps.filter { $0.isNamed(name) }.map(\.icon) }
            .filter { seen.insert($0).inserted }
    }

    func missing(_ name: String, in list: ListName?) throws -> ExitCode {
        let snapshot = try snapshot()
        defer { snapshot.end() }
        if let list, snapshot.manifest.lists[list] == nil {
            let near = Suggestion.list(for: list, among: Array(snapshot.manifest.lists.keys))
            return Exit.because("There is no published list \(list).\(near)")
        }
        let documents = try list.map { [try snapshot.document(of: $0)].compactMap(\.self) } ?? snapshot.documents()
        let names = Set(documents.flatMap(\.apps).compactMap(\.name)).sorted()
        let place = list.map { "in \($0)" } ?? "in any list"
        let shown = name.utf8.count <= 100 ? name : String(decoding: name.utf8.prefix(100), as: UTF8.self) + "…"
        return Exit.because("No app \(place) is named “\(shown)”.\(Suggestion.text(for: shown, among: names))")
    }
}
