// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The format of the output of `syncagent-parse`: one verdict, as records.
///
/// The first line names the format. Each record is a line: a letter for its kind, then its fields, each as
/// `LENGTH:TEXT` with the length in UTF-8 bytes, or `-` for a missing field. The last record ends the verdict, so
/// truncated output is detected.
/// ```
/// syncagent-list 6
/// E25:https://example.com/a.png4:Mail---
/// P8:[3].icon12:not a string
/// .
/// ```
package enum ParseRecord {
    /// The longest output accepted, whatever the limits on lists are; the parser rejects lists that need more.
    package static let maxBytes = ByteCount.mebibytes(64)

    private static let header = Array("syncagent-list 6\n".utf8)

    private enum Kind: UInt8 {
        /// Icon, name, download, expected digest, app identity.
        case entry = 0x45  // E
        /// The URL of an image in the folder of relative icon names.
        case image = 0x49  // I
        case problem = 0x50  // P
        /// Index, name, app identity, key path.
        case unusable = 0x55  // U
        /// Code and facts; excludes all other records.
        case rejection = 0x52  // R
        case end = 0x2E  // .
    }

    /// Encodes a verdict; a list that exceeds the limit becomes a rejection.
    package static func encode(_ verdict: ListVerdict, atMost limit: ByteCount = maxBytes) -> [UInt8] {
        var output = header
        switch verdict {
        case .success(let list):
            for entry in list.entries {
                append(
                    .entry, [entry.icon.text, entry.name, entry.download, entry.expected?.hex, entry.id], to: &output)
                guard output.count < limit.bytes else { return encode(.failure(.tooMuchText(limit: limit))) }
            }
            for image in list.images.map({ $0.sorted() }) ?? [] { append(.image, [image.text], to: &output) }
            for entry in list.unusable {
                append(.unusable, [String(entry.index), entry.name, entry.id, entry.keyPath], to: &output)
            }
            for problem in list.problems {
                append(.problem, [problem.keyPath, problem.reason], to: &output)
            }
        case .failure(let rejection):
            append(.rejection, [rejection.code.rawValue] + rejection.facts, to: &output)
        }
        append(.end, [], to: &output)
        guard output.count <= limit.bytes else { return encode(.failure(.tooMuchText(limit: limit))) }
        return output
    }

    private static func append(_ kind: Kind, _ fields: [String?], to output: inout [UInt8]) {
        output.append(kind.rawValue)
        for field in fields {
            if let field {
                output += String(field.utf8.count).utf8
                output.append(UInt8(ascii: ":"))
                output += field.utf8
            } else {
                output.append(UInt8(ascii: "-"))
            }
        }
        output.append(UInt8(ascii: "\n"))
    }

    /// Decodes the output of a parser that the file may have taken control of.
    ///
    /// - Throws: ``Malformed`` if the output is truncated, continues after its end, breaks a limit, or gives a code
    ///   that is unknown or that only the agent may give.
    package static func decode(_ output: [UInt8], maxEntries: Int) throws(Malformed) -> ListVerdict {
        guard output.count <= maxBytes.bytes, output.starts(with: header) else { throw Malformed(offset: 0) }
        var cursor = Cursor(bytes: output, offset: header.count)
        var list = AppList()
        var rejection: ListRejection?
        while true {
            let start = cursor.offset
            switch Kind(rawValue: try cursor.next()) {
            case .entry:
                let icon = try cursor.text(atMost: AppEntry.maxIconBytes)
                let name = try cursor.optionalText(atMost: AppEntry.maxTextBytes)
                let download = try cursor.optionalText(atMost: AppEntry.maxTextBytes)
                let hex = try cursor.optionalText(atMost: 64)
                let expected = hex.flatMap { Digest(hex: $0) }
                let id = try cursor.optionalText(atMost: AppEntry.maxTextBytes)
                guard rejection == nil, list.entries.count < maxEntries, AppEntry.flaw(inIcon: icon) == nil,
                    (hex == nil) == (expected == nil)
                else { throw Malformed(offset: start) }
                list.entries.append(
                    AppEntry(name: name, id: id, icon: IconURL(icon), download: download, expected: expected))
            case .image:
                let image = try cursor.text(atMost: FetchTarget.maxLength)
                guard rejection == nil, list.images?.count ?? 0 < maxEntries, AppEntry.flaw(inIcon: image) == nil
                else { throw Malformed(offset: start) }
                if list.images == nil { list.images = [] }
                list.images?.insert(IconURL(image))
            case .problem:
                let keyPath = try cursor.text(atMost: AppEntry.maxTextBytes)
                let reason = try cursor.text(atMost: AppEntry.maxTextBytes)
                guard rejection == nil, list.problems.count <= AppList.maxProblems else {
                    throw Malformed(offset: start)
                }
                list.problems.append(EntryProblem(keyPath: keyPath, reason: reason))
            case .unusable:
                let index = Int(try cursor.text(atMost: 20))
                let name = try cursor.optionalText(atMost: AppEntry.maxTextBytes)
                let id = try cursor.optionalText(atMost: AppEntry.maxTextBytes)
                let keyPath = try cursor.text(atMost: AppEntry.maxTextBytes)
                let last = list.unusable.last?.index ?? 0
                guard rejection == nil, let index, (last...max(last, list.entries.count)).contains(index),
                    list.entries.count + list.unusable.count < maxEntries
                else { throw Malformed(offset: start) }
                list.unusable.append(UnusableEntry(index: index, name: name, id: id, keyPath: keyPath))
            case .rejection:
                let code = ListRejection.Code(rawValue: try cursor.text(atMost: 64))
                let facts = try cursor.texts(atMost: AppEntry.maxTextBytes, count: ListRejection.maxKeys)
                guard rejection == nil, list == AppList(),
                    let given = code.flatMap({ ListRejection(ofParser: $0, facts: facts) })
                else { throw Malformed(offset: start) }
                rejection = given
            case .end:
                try cursor.endLine()
                guard cursor.offset == output.count else { throw Malformed(offset: cursor.offset) }
                // Only an empty array is a list without entries.
                let isSpoiled = list.entries.isEmpty && list.images == nil && list != AppList()
                guard rejection != nil || !isSpoiled else { throw Malformed(offset: start) }
                return rejection.map { .failure($0) } ?? .success(list)
            case nil:
                throw Malformed(offset: start)
            }
            try cursor.endLine()
        }
    }

    package struct Malformed: Error, Equatable {
        /// The offset of the first wrong byte.
        package var offset: Int
    }
}

extension ParseRecord {
    private struct Cursor {
        let bytes: [UInt8]
        var offset: Int

        mutating func next() throws(Malformed) -> UInt8 {
            guard offset < bytes.count else { throw Malformed(offset: offset) }
            defer { offset += 1 }
            return bytes[offset]
        }

        mutating func endLine() throws(Malformed) {
            guard try next() == UInt8(ascii: "\n") else { throw Malformed(offset: offset - 1) }
        }

        mutating func text(atMost limit: Int) throws(Malformed) -> String {
            guard let text = try optionalText(atMost: limit) else { throw Malformed(offset: offset - 1) }
            return text
        }

        mutating func texts(atMost limit: Int, count: Int) throws(Malformed) -> [String] {
            var texts: [String] = []
            while offset < bytes.count, bytes[offset] != UInt8(ascii: "\n") {
                guard texts.count < count else { throw Malformed(offset: offset) }
                texts.append(try text(atMost: limit))
            }
            return texts
        }

        mutating func optionalText(atMost limit: Int) throws(Malformed) -> String? {
            let start = offset
            var length: Int?
            while true {
                switch try next() {
                case let digit where digit.isDigit:
                    length = (length ?? 0) * 10 + Int(digit - 0x30)
                case UInt8(ascii: "-") where length == nil:
                    return nil
                case UInt8(ascii: ":"):
                    guard let length, length <= bytes.count - offset,
                        let text = String(utf8: bytes[offset..<offset + length])
                    else { throw Malformed(offset: start) }
                    offset += length
                    return text
                default:
                    throw Malformed(offset: start)
                }
                guard length ?? 0 <= limit else { throw Malformed(offset: start) }
            }
        }
    }
}
