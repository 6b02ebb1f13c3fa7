// SPDX-License-Identifier: Apache-2.0
package import AppLists
import CacheFormat

/// The encoding of a property list, guessed from its first bytes.
package enum PropertyListEncoding: Equatable {
    case blank, binary, xml, openStep
    /// Text in UTF-16 or UTF-32, which is not scanned before it is parsed.
    case wideText

    package init(of bytes: [UInt8]) {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
        guard let first = text.first(where: { !Self.isSpace($0) }) else {
            self = .blank
            return
        }
        if text.starts(with: "bplist".utf8) {
            self = .binary
        } else if text.prefix(4).contains(where: { $0 == 0 || $0 >= 0xFE }) {
            self = .wideText
        } else {
            self = first == UInt8(ascii: "<") ? .xml : .openStep
        }
    }

    static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }

    /// Scans the bytes once before they are parsed, because deep nesting crashes the parser.
    ///
    /// Bytes that it cannot interpret are left to the parser.
    ///
    /// - Returns: The number of keys of the outermost dictionary, duplicates included; 0 if it is unknown.
    /// - Throws: A rejection if arrays and dictionaries are nested deeper than the limit, or there are more values than
    ///   a file without references could have.
    package func topKeys(of bytes: [UInt8], _ limits: ListLimits) throws(ListRejection) -> Int {
        let maxDepth = ListLimits.maxDepth
        let keys: Int?
        switch self {
        case .blank, .wideText: return 0
        case .xml: keys = XMLNesting.topKeys(bytes, maxDepth: maxDepth)
        case .openStep: keys = OpenStepNesting.topKeys(bytes, maxDepth: maxDepth)
        case .binary:
            guard let binary = BinaryNesting(bytes) else { return 0 }
            let maxValues = limits.maxBytes.bytes
            let extent = binary.extent(maxDepth: maxDepth, maxValues: maxValues)
            if let extent, extent.values > maxValues { throw .tooManyValues(limit: maxValues) }
            keys = extent.map { _ in binary.topKeys }
        }
        guard let keys else { throw .tooDeep(limit: maxDepth) }
        return keys
    }
}
