// SPDX-License-Identifier: Apache-2.0
package import AppLists
import CacheFormat

/// The encoding of a list, guessed from its first bytes: the suffix of the file decides nothing.
package enum PropertyListEncoding: Equatable {
    case blank, binary, xml, openStep, json
    /// Text in UTF-16 or UTF-32, which is not scanned before parsing.
    case wideText

    package init(of bytes: [UInt8]) {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
        guard let first = text.first(where: { !$0.isWhiteSpace }) else {
            self = .blank
            return
        }
        if text.starts(with: "bplist".utf8) {
            self = .binary
        } else if text.prefix(4).contains(where: { $0 == 0 || $0 >= 0xFE }) {
            self = .wideText
        } else if first == UInt8(ascii: "<") {
            self = .xml
        } else {
            self = JSONOutline.isLikely(text) ? .json : .openStep
        }
    }

    /// Scans the bytes before they are parsed, since the parser does not limit nesting and values.
    ///
    /// Uninterpretable bytes are left to it.
    ///
    /// - Throws: A rejection if nesting exceeds the limit, there are more values than a file without references could
    ///   have, or JSON is not well-formed.
    package func outline(of bytes: [UInt8], _ limits: ListLimits) throws(ListRejection) -> PropertyListOutline {
        let maxDepth = ListLimits.maxDepth
        let outline: PropertyListOutline?
        switch self {
        case .blank, .wideText: return PropertyListOutline()
        case .xml: outline = XMLNesting.outline(bytes, limits)
        case .json:
            switch JSONOutline(of: bytes) {
            case .wellFormed(let topKeys): outline = PropertyListOutline(topKeys: topKeys)
            case .tooDeep: outline = nil
            case .fault(let fault): throw .notJSON(fault)
            }
        case .openStep:
            outline = OpenStepNesting.topKeys(bytes, maxDepth: maxDepth).map { PropertyListOutline(topKeys: $0) }
        case .binary:
            guard let binary = BinaryNesting(bytes) else { return PropertyListOutline() }
            let maxValues = limits.maxBytes.bytes
            let extent = binary.extent(maxDepth: maxDepth, maxValues: maxValues)
            if let extent, extent.values > maxValues { throw .tooManyValues(limit: maxValues) }
            outline = extent.map { _ in PropertyListOutline(topKeys: binary.topKeys) }
        }
        guard let outline else { throw .tooDeep(limit: maxDepth) }
        return outline
    }
}

/// What is known about a property list before it is parsed.
package struct PropertyListOutline {
    /// The number of keys of the outermost dictionary, duplicates included; 0 if unknown.
    package var topKeys = 0
    /// The identity keys that a dictionary may have; `nil` for any.
    package var identityKeys: [String]?
}
