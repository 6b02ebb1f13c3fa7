// SPDX-License-Identifier: Apache-2.0
package import SyncPlan

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

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }

    /// What keeps the bytes from the parser: more arrays and dictionaries inside one another than the limit, or more
    /// values than a file could say one by one.
    ///
    /// This is one pass over the bytes, before the parser, whose recursion ends in a crash. What it cannot look into,
    /// or cannot make sense of, is left to the parser.
    package func rejection(of bytes: [UInt8], _ limits: ListLimits) -> ListRejection? {
        let maxDepth = ListLimits.maxDepth
        let isTooDeep: Bool
        switch self {
        case .blank, .wideText: return nil
        case .xml: isTooDeep = XMLNesting.isDeeper(than: maxDepth, bytes)
        case .openStep: isTooDeep = OpenStepNesting.isDeeper(than: maxDepth, bytes)
        case .binary:
            guard let binary = BinaryNesting(bytes) else { return nil }
            let maxValues = limits.maxBytes.bytes
            let extent = binary.extent(maxDepth: maxDepth, maxValues: maxValues)
            if let extent, extent.values > maxValues { return .tooManyValues(limit: maxValues) }
            isTooDeep = extent == nil
        }
        return isTooDeep ? .tooDeep(limit: maxDepth) : nil
    }
}
