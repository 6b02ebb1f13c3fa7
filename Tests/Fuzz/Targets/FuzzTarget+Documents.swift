// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import IconCache
import SyncPlan

extension FuzzTarget {
    /// The documents that readers parse, and the record of a download that was cut.
    static let documents = FuzzTarget(name: "documents", isText: true) { bytes in
        if let manifest = try? Manifest(json: bytes) {
            let again = try Manifest(json: manifest.text)
            try hold(again == manifest, "another manifest when written and read again")
            try hold(CacheLayout.generationNumbers.contains(manifest.generation), "generation \(manifest.generation)")
        }
        if let document = try? AppListDocument(json: bytes) {
            let json = Array(document.json.utf8)
            try hold(try AppListDocument(json: json) == document, "another when written and read again")
            // One app a line, whatever is in its texts.
            let lines = json.count { $0 == UInt8(ascii: "\n") }
            try hold(lines == (document.apps.isEmpty ? 1 : document.apps.count + 2), "\(lines) lines")
            for app in document.apps.prefix(20) {
                let found = try AppListDocument.entry(forIcon: app.icon, in: json)
                let first = document.apps.first { $0.icon == app.icon }
                try hold(found == first, "\(app.icon) is found to be \(found as Any)")
            }
        }
        // A reader looks for entries in text that is damaged, too.
        _ = try? AppListDocument.entry(forIcon: "https://example.com/a.png", in: bytes)
        if let part = PartialDownload(record: bytes, boot: "b", bytes: 100_000) {
            let again = PartialDownload(record: Array(part.record(boot: "b").utf8), boot: "b", bytes: 100_000)
            try hold(again == part, "another part when written and read again")
            for field in part.requestFields {
                try hold(field.value.utf8.allSatisfy { $0 >= 0x20 || $0 == 0x09 }, "\(field) in a request")
            }
            _ = PartialDownload.kept(of: [part], at: part.response.responseTime)
        }
    }
}
