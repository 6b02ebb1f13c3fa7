// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// Since when each remaining file at the target is no longer named by an exported manifest.
///
/// Proxies and agents may use an older manifest for days. If the record is lost, the time of all files starts over.
package struct UnnamedFiles: Equatable, Sendable {
    package private(set) var since: [String: Timestamp] = [:]

    package init() {}

    /// Parses ``text``; malformed lines are ignored.
    package init(text: [UInt8]) {
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "), maxSplits: 1).map {
                String(decoding: $0, as: UTF8.self)
            }
            guard words.count == 2, let time = Timestamp(words[0]), ExportLayout.isNamed(words[1]) else { continue }
            since[words[1]] = time
        }
    }

    /// One line per file, sorted by path: `2026-11-21T02:44:52Z icons/0b/0b01….png`.
    package var text: [UInt8] {
        Array(since.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)\n" }.joined().utf8)
    }

    /// The record without files that a manifest names, at paths in `named`.
    package func leavingOut(_ named: Set<String>) -> UnnamedFiles {
        var known = self
        known.since = since.filter { !named.contains($0.key) }
        return known
    }

    /// Updates the record for an export, and returns the files to remove, sorted.
    ///
    /// `named` are the paths that the exported manifest leads to, and its signature; other files stay for `keep` after
    /// the last export that named them.
    package mutating func update(
        present: some Sequence<String>, named: Set<String>, now: Timestamp, keep: Duration
    ) -> [String] {
        var next: [String: Timestamp] = [:]
        var due: [String] = []
        for path in present where ExportLayout.isNamed(path) && !named.contains(path) {
            // A recorded time in the future comes from a clock that was ahead, and must not keep the file for longer.
            let time = min(since[path] ?? now, now).inWholeSeconds
            if now - time >= keep { due.append(path) } else { next[path] = time }
        }
        since = next
        return due.sorted()
    }
}
