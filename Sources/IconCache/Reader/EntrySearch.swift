// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage

extension IconCache {
    /// The entry of an icon in the newest generation; `nil` if no list names it.
    ///
    /// Entries with the icon's own image come first, then those with a previous one, then those without an image; among
    /// equals, the first list by name counts.
    package func entry(forIcon url: IconURL) throws(IconCacheError) -> AppListDocument.App? {
        try withNewest { snapshot throws(IconCacheError) in
            var best: AppListDocument.App?
            for (_, list) in snapshot.manifest.lists.sorted(by: { $0.key < $1.key }) {
                guard let entry = try snapshot.entry(forIcon: url, in: list), entry.rank > best?.rank ?? 0 else {
                    continue
                }
                if entry.ownImage != nil { return entry }
                best = entry
            }
            return best
        }
    }

    /// The entry of an app with this name in the newest generation; `nil` if there is none.
    ///
    /// Searches one list, or all. The precedence is that of ``entry(forIcon:)``.
    package func entry(forApp name: String, in list: ListName? = nil) throws(IconCacheError) -> AppListDocument.App? {
        try withNewest { snapshot throws(IconCacheError) in
            var best: AppListDocument.App?
            for list in list.map({ [$0] }) ?? snapshot.manifest.lists.keys.sorted() {
                let apps = try snapshot.document(of: list)?.apps ?? []
                for app in apps where app.isNamed(name) && app.rank > best?.rank ?? 0 { best = app }
            }
            return best
        }
    }
}

extension Snapshot {
    /// The first entry of an icon in a list's document, or the first one with an image; `nil` if there is none.
    ///
    /// Documents have one app per line, and the same bytes for the same URL, so the other lines are not parsed.
    func entry(forIcon url: IconURL, in list: Manifest.List) throws(IconCacheError) -> AppListDocument.App? {
        let json = try json(of: list)
        return try IconCacheError.naming(path(of: list).string) { () throws(FormatError) in
            try AppListDocument.entry(forIcon: url, in: json)
        }
    }
}

extension AppListDocument {
    /// The first entry of an icon in the text of a list document, or the first one with an image.
    package static func entry(forIcon url: IconURL, in json: [UInt8]) throws(FormatError) -> App? {
        if let found = entry(forIcon: url, inWritten: json) { return found }
        var best: App?
        let apps = try AppListDocument(json: json).apps
        for app in apps where app.icon == url && app.rank > best?.rank ?? 0 { best = app }
        return best
    }

    /// Searches a document in the layout of ``text``; `nil` if the layout proves to be another one.
    private static func entry(forIcon url: IconURL, inWritten json: [UInt8]) -> App?? {
        let head = Array(json.prefix { $0 != UInt8(ascii: "\n") })
        func app(on line: [UInt8]) -> App? { AppListDocument(written: head + line + "\n] }\n".utf8)?.apps.first }
        guard head.count < json.count, app(on: json.line(at: head.count + 1)) != nil else { return nil }
        // JSON escapes quotes in strings, so these bytes are always a key and its value, though maybe not the entry's own.
        let member = Array("\"icon\": \(JSON.quoted(url.text))".utf8)
        let ready = Array("\"status\": \"ready\"".utf8)
        var best: App?
        var start = 0
        while let position = json.position(of: member, from: start) {
            start = position + member.count
            let line = json.line(at: position)
            // Lines without an image are skipped: thousands of apps may share the URL of a missing icon.
            guard best == nil || line.position(of: ready) != nil else { continue }
            guard let entry = app(on: line) else { return nil }
            guard entry.icon == url else { continue }
            if entry.rank > best?.rank ?? 0 { best = entry }
            // While the icon has no image of its own, another app may have a previous one for the same URL.
            if entry.ownImage != nil { break }
        }
        return best
    }
}

extension AppListDocument.App {
    /// Whether the name is this one, byte for byte.
    package func isNamed(_ name: String) -> Bool { self.name.map { haveSameBytes($0, name) } ?? false }

    /// The precedence among entries of one URL; the highest counts.
    var rank: Int {
        guard case .ready = state else { return 1 }
        return previous == nil ? 3 : 2
    }
}

extension [UInt8] {
    /// The offset of the first match of a pattern at or after `start`.
    fileprivate func position(of pattern: [UInt8], from start: Int = 0) -> Int? {
        guard let first = pattern.first else { return startIndex }
        return withUnsafeBytes { bytes in
            pattern.withUnsafeBytes { pattern in
                guard let base = bytes.baseAddress, let wanted = pattern.baseAddress else { return nil }
                var position = start
                while bytes.count - position >= pattern.count,
                    let found = memchr(base + position, CInt(first), bytes.count - position - pattern.count + 1)
                {
                    if memcmp(found, wanted, pattern.count) == 0 { return UnsafeRawPointer(found) - base }
                    position = UnsafeRawPointer(found) - base + 1
                }
                return nil
            }
        }
    }

    /// The line at this position, with the newline before it and without a comma at its end.
    fileprivate func line(at position: Int) -> [UInt8] {
        let newline = UInt8(ascii: "\n")
        let start = self[..<position].lastIndex(of: newline) ?? 0
        let line = self[start..<(self[position...].firstIndex(of: newline) ?? count)]
        return Array(line.last == UInt8(ascii: ",") ? line.dropLast() : line)
    }
}
