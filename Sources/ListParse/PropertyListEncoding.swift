// SPDX-License-Identifier: Apache-2.0
package import AppLists
import CacheFormat

/// The encoding of a list, guessed from its first bytes in UTF-8: the suffix of the file decides nothing.
package enum PropertyListEncoding: Equatable {
    case blank, binary, xml, openStep, json

    package init(of bytes: [UInt8]) {
        let text = bytes[bytes.textStart...]
        guard let first = text.first(where: { !$0.isWhiteSpace }) else {
            self = .blank
            return
        }
        if text.starts(with: "bplist".utf8) {
            self = .binary
        } else if first == UInt8(ascii: "<") {
            self = .xml
        } else {
            self = JSONOutline.isLikely(text) ? .json : .openStep
        }
    }

    /// Scans the bytes before they are parsed, since the parser does not limit nesting and values.
    ///
    /// Bytes of an unknown form are left to the parser.
    ///
    /// - Throws: A rejection if nesting exceeds the limit, there are more values than a file without references could
    ///   have, or JSON is not well-formed.
    package func outline(of bytes: [UInt8], _ limits: ListLimits) throws(ListRejection) -> PropertyListOutline {
        // Only with a base is that of Munki the key of an icon.
        let ofMunki = limits.iconBase == nil ? [] : [MunkiItem.iconNameKey.stringValue]
        let repeated = RepeatedKeys(ofMunki + EntryReader.iconKeys(limits))
        var outline = PropertyListOutline(limits: limits, repeated: repeated)
        let topKeys: Int?
        switch self {
        case .blank: topKeys = 0
        case .xml: topKeys = XMLNesting.topKeys(bytes, &outline)
        case .json: topKeys = try JSONOutline.topKeys(bytes, &outline.repeated)
        case .openStep: topKeys = OpenStepNesting.topKeys(bytes, &outline.repeated)
        case .binary:
            guard let binary = BinaryNesting(bytes) else { return outline }
            let maxValues = limits.maxBytes.bytes
            let extent = binary.extent(maxDepth: ListLimits.maxDepth, maxValues: maxValues)
            if let extent, extent.values > maxValues { throw .tooManyValues(limit: maxValues) }
            topKeys = extent.map { _ in binary.topKeys() }
        }
        guard let topKeys else { throw .tooDeep(limit: ListLimits.maxDepth) }
        outline.topKeys = topKeys
        outline.mayRepeat = { mayRepeat($0, in: bytes) }
        return outline
    }

    /// Whether a key may be in the outermost dictionary twice, if some key is.
    private func mayRepeat(_ key: String, in bytes: [UInt8]) -> Bool {
        var outline = PropertyListOutline(limits: ListLimits())
        return switch self {
        case .json: (try? JSONOutline.topKeys(bytes, thatMayBe: key, &outline.repeated)) != 1
        case .xml: XMLNesting.topKeys(bytes, thatMayBe: key, &outline) != 1
        case .openStep: OpenStepNesting.topKeys(bytes, thatMayBe: key, &outline.repeated) != 1
        case .binary: BinaryNesting(bytes)?.topKeys(thatMayBe: key) != 1
        case .blank: true
        }
    }
}

/// The facts about a property list that are known before it is parsed.
package struct PropertyListOutline {
    /// The limits, without identity keys that no dictionary of the list has, as far as known.
    package var limits: ListLimits
    /// The keys of icons that a dictionary has twice.
    var repeated = RepeatedKeys()
    /// The number of keys of the outermost dictionary, duplicates included; 0 if unknown.
    package var topKeys = 0
    /// Whether a key may be in the outermost dictionary twice, if some key is.
    package var mayRepeat: @Sendable (String) -> Bool = { _ in true }
}

extension [UInt8] {
    /// The offset after a byte order mark in UTF-8.
    var textStart: Int { starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0 }

    /// The number of the line of an offset.
    func line(at offset: Int) -> Int { 1 + self[..<offset].count { $0 == UInt8(ascii: "\n") } }
}

extension ArraySlice<UInt8> {
    /// Whether the text of a key can be a given one: it is the same, or has `marks`, which begin escapes or references;
    /// `nil` is any key.
    func mayBe(_ key: String?, marks: String) -> Bool {
        guard let key else { return true }
        return contains { marks.utf8.contains($0) } || String(decoding: self, as: UTF8.self) == key
    }
}
