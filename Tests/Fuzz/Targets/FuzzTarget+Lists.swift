// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import ListParse

extension FuzzTarget {
    /// The records that the parser of property lists writes, from one that a file has taken over.
    static let records = FuzzTarget(name: "records", isText: true) { bytes in
        let maxEntries = 20
        guard let verdict = try? ParseRecord.decode(bytes, maxEntries: maxEntries) else { return }
        if case .success(let list) = verdict {
            try hold(list.entries.count <= maxEntries, "\(list.entries.count) entries")
            try hold(list.problems.count <= AppList.maxProblems + 1, "\(list.problems.count) problems")
            for entry in list.entries {
                try hold(AppEntry.flaw(inIcon: entry.icon.text) == nil, "an icon with a flaw: \(entry.icon)")
                let longest = [entry.name, entry.download].compactMap(\.?.utf8.count).max() ?? 0
                try hold(longest <= AppEntry.maxTextBytes, "a text of \(longest) bytes")
            }
        }
        let again = ParseRecord.encode(verdict)
        try hold((try? ParseRecord.decode(again, maxEntries: maxEntries)) == verdict, "another verdict when read again")
        try hold(again.count <= bytes.count, "longer when written again")
        // One that was cut short is never taken for a whole one.
        try hold((try? ParseRecord.decode(again.dropLast(), maxEntries: maxEntries)) == nil, "accepted when cut short")
    }

    /// What is looked at in a property list before the parser sees it, and what is said of a faulty one.
    static let lists = FuzzTarget(name: "lists", isText: false) { bytes in
        let limits = ListLimits(maxBytes: ByteCount(1 << 16))
        let encoding = PropertyListEncoding(of: bytes)
        let outline = try? encoding.outline(of: bytes, limits)
        if encoding == .xml, outline != nil {
            let depth = XMLReference.depth(of: bytes)
            try hold(depth <= ListLimits.maxDepth, "\(depth) containers inside one another are accepted")
        }
        var faults = [XMLFault.first(in: bytes)].compactMap(\.self)
        do throws(ListRejection) {
            _ = try PropertyListEncoding.json.outline(of: bytes, limits)
        } catch {
            if error.code == .notAPropertyList { faults += error.facts.prefix(1) }
        }
        for fault in faults {
            try hold(fault.hasPrefix("line "), "a fault without its line: \(fault)")
            let number = fault.dropFirst(5).prefix { $0.isASCII && $0.isNumber }
            let lines = bytes.count { $0 == UInt8(ascii: "\n") } + 1
            try hold(Int(number).map { (1...lines).contains($0) } == true, "line \(number) of \(lines)")
            try hold(fault.utf8.count < 1000, "a fault of \(fault.utf8.count) bytes")
        }
    }
}

/// How deep the elements `array` and `dict` are inside one another, as an XML parser would find.
///
/// It is written to be compared with, in the plainest way, and takes only what begins and ends in the right order.
private enum XMLReference {
    static func depth(of bytes: [UInt8]) -> Int {
        var open: [String] = []
        var deepest = 0
        var rest = bytes[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[start...]
            if let (_, end) = marks.first(where: { rest.starts(with: $0.begin.utf8) }) {
                guard let after = position(after: end, in: rest.dropFirst(2)) else { return deepest }
                rest = rest[after...]
                continue
            }
            guard let close = rest.firstIndex(of: UInt8(ascii: ">")) else { return deepest }
            let tag = String(decoding: rest[(start + 1)..<close], as: UTF8.self)
            rest = rest[(close + 1)...]
            if tag.hasPrefix("/") {
                guard open.popLast() == String(tag.dropFirst()) else { return deepest }
            } else if ["array", "dict", "plist", "string", "key"].contains(tag) {
                open.append(tag)
                deepest = max(deepest, open.count { $0 == "array" || $0 == "dict" })
            } else {
                return deepest
            }
        }
        return deepest
    }

    private static let marks: [(begin: String, end: String)] = [
        ("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!DOCTYPE", ">"),
    ]

    private static func position(after end: String, in bytes: ArraySlice<UInt8>) -> Int? {
        let end = Array(end.utf8)
        var rest = bytes
        while let first = rest.firstIndex(of: end[0]) {
            rest = rest[first...]
            if rest.starts(with: end) { return first + end.count }
            rest = rest.dropFirst()
        }
        return nil
    }
}
