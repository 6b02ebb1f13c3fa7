// SPDX-License-Identifier: Apache-2.0
package import AppLists
import CacheFormat

/// How a property list is written, as far as its first bytes tell.
package enum PropertyListEncoding: Equatable {
    case blank, binary, xml, openStep
    /// Text of two or four bytes a character, which is not looked into here.
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

    /// What one pass over the bytes shows, before the parser, whose recursion ends in a crash.
    ///
    /// What it cannot look into, or cannot make sense of, is left to the parser.
    ///
    /// - Returns: How many keys the outermost dictionary has, repeated ones included; 0 where that is not known.
    /// - Throws: A rejection if more arrays and dictionaries are inside one another than the limit, or there are more values
    ///   than a file could say one by one.
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
