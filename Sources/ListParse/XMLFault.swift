// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// Finds the first fault of an XML property list, with its line, for its author.
///
/// Used only for files that the parser rejected: its own line numbers are wrong.
package struct XMLFault {
    private static let elements: Set = [
        "plist", "dict", "array", "key", "string", "integer", "real", "true", "false", "date", "data",
    ]
    private static let containers: Set = ["plist", "dict", "array"]
    private static let entities: Set = ["lt", "gt", "amp", "quot", "apos"]

    private struct Element {
        var name: String
        var offset: Int
        /// Whether a key has no value yet; only in a dictionary.
        var hasKey = false
    }

    private let bytes: [UInt8]
    /// The current position; at the end that of the fault.
    private var offset = 0
    /// The open elements, outermost first.
    private var open: [Element] = []

    /// The first fault, with its line, as a clause; `nil` if it is not one of the usual faults.
    package static func first(in bytes: [UInt8]) -> String? {
        var search = XMLFault(bytes: bytes)
        return search.find().map { "line \(bytes.line(at: search.offset)): \($0)" }
    }

    private mutating func find() -> String? {
        var pieces = XMLPieces(bytes)
        offset = pieces.offset
        while let piece = pieces.next() {
            let end = pieces.offset
            let fault: String? =
                switch piece {
                case .text: text(before: end)
                case .tag(let name, let isEnd, let isEmpty, let isClosed):
                    tag(self.name(at: name), isEnd: isEnd, isEmpty: isEmpty, isClosed: isClosed)
                case .section(let begin, let end, isClosed: false): "“\(begin)” without “\(end)”"
                case .section(let begin, _, isClosed: true): "\(begin)" == "<!" ? declaration(before: end) : nil
                }
            if let fault { return fault }
            offset = pieces.offset
        }
        guard let last = open.last else { return nil }
        return "end of file, but <\(last.name)> of line \(bytes.line(at: last.offset)) is not closed"
    }

    private mutating func declaration(before end: Int) -> String? {
        guard bytes[offset..<end].contains(UInt8(ascii: "[")) else { return nil }
        offset = end
        return "declarations in <!DOCTYPE> are not supported"
    }

    // MARK: Tags

    private mutating func tag(_ name: String, isEnd: Bool, isEmpty: Bool, isClosed: Bool) -> String? {
        guard Self.elements.contains(name) else {
            return "<\(isEnd ? "/" : "")\(ListPath.shown(name))> is not an element of property lists"
        }
        if let fault = isEnd ? end(name) : begin(name) { return fault }
        guard isClosed else { return "a tag without “>”" }
        if !isEnd, !isEmpty { open.append(Element(name: name, offset: offset)) }
        return nil
    }

    private mutating func begin(_ name: String) -> String? {
        guard let parent = open.indices.last else { return nil }
        let outer = open[parent]
        guard Self.containers.contains(outer.name) else {
            return "<\(name)> within <\(outer.name)> of line \(bytes.line(at: outer.offset))"
        }
        guard outer.name == "dict" else { return nil }
        guard outer.hasKey != (name == "key") else {
            return outer.hasKey ? "<key>, but the key before it has no value" : "<\(name)> without a <key> before it"
        }
        open[parent].hasKey.toggle()
        return nil
    }

    private mutating func end(_ name: String) -> String? {
        guard let last = open.popLast() else { return "</\(name)>, but no element is open" }
        guard last.name == name else {
            return "</\(name)>, but <\(last.name)> of line \(bytes.line(at: last.offset)) is not closed"
        }
        return last.hasKey ? "</dict>, but the last key has no value" : nil
    }

    // MARK: Text

    private mutating func text(before end: Int) -> String? {
        if let last = open.last, !Self.containers.contains(last.name) { return reference(before: end) }
        guard let first = bytes[offset..<end].firstIndex(where: { $0 > 0x20 }) else { return nil }
        offset = first
        return "text outside of an element"
    }

    private mutating func reference(before end: Int) -> String? {
        while let ampersand = bytes[offset..<end].firstIndex(of: UInt8(ascii: "&")) {
            offset = ampersand + 1
            let name = self.name(at: offset)
            let isKnown = name.starts(withBytes: "#") || Self.entities.contains(name)
            guard isKnown, bytes[offset...].starts(with: (name + ";").utf8) else {
                return "“&” does not begin a known reference: write “&amp;”"
            }
        }
        return nil
    }

    // MARK: Bytes

    /// The name at an offset, or the number of a reference.
    private func name(at start: Int) -> String {
        let bytes = bytes[start...].prefix(64).prefix {
            $0 > 0x20 && ![UInt8(ascii: ">"), UInt8(ascii: "/"), UInt8(ascii: "<"), UInt8(ascii: ";")].contains($0)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
