// SPDX-License-Identifier: Apache-2.0

/// Where an XML property list goes wrong, in the words of whoever has to put it right.
///
/// The parser underneath has the say on whether it does. It counts lines wrongly, and so does not tell.
package struct XMLFault {
    private static let elements: Set = [
        "plist", "dict", "array", "key", "string", "integer", "real", "true", "false", "date", "data",
    ]
    private static let containers: Set = ["plist", "dict", "array"]
    private static let marks: [(begin: String, end: String)] = [
        ("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">"),
    ]
    private static let entities: Set = ["lt", "gt", "amp", "quot", "apos"]

    private struct Element {
        var name: String
        var line: Int
        /// In a dictionary, whether the value of a key is to come.
        var hasKey = false
    }

    private let bytes: [UInt8]
    private var offset = 0
    private var line = 1
    /// The elements that are not closed yet, the outermost one first.
    private var open: [Element] = []

    /// The first fault that is found, with its line, as a clause; `nil` if it is none of the usual ones.
    package static func first(in bytes: [UInt8]) -> String? {
        var search = XMLFault(bytes: bytes)
        return search.find().map { "line \(search.line): \($0)" }
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
    }

    private mutating func find() -> String? {
        while offset < bytes.count {
            if bytes[offset] != UInt8(ascii: "<") {
                if let fault = text() { return fault }
            } else if let (mark, end) = Self.marks.first(where: { has($0.begin) }) {
                let start = offset
                guard pass(to: end) else { return "“\(mark)” without “\(end)”" }
                if mark == "<!", bytes[start..<offset].contains(UInt8(ascii: "[")) {
                    return "declarations within <!DOCTYPE>, which are not read"
                }
            } else if let fault = tag() {
                return fault
            }
        }
        guard let last = open.last else { return nil }
        return "the file ends here, and <\(last.name)> of line \(last.line) is not closed"
    }

    // MARK: Tags

    private mutating func tag() -> String? {
        let isEnd = has("</")
        let start = offset + (isEnd ? 2 : 1)
        let name = self.name(from: start)
        guard Self.elements.contains(name) else {
            return "<\(isEnd ? "/" : "")\(ListPath.shown(name))> is no element of property lists"
        }
        if let fault = isEnd ? end(name) : begin(name) { return fault }
        guard let close = bytes[start...].firstIndex(of: UInt8(ascii: ">")) else { return "a tag without its end" }
        if !isEnd, bytes[close - 1] != UInt8(ascii: "/") { open.append(Element(name: name, line: line)) }
        move(to: close + 1)
        return nil
    }

    private mutating func begin(_ name: String) -> String? {
        guard let parent = open.indices.last else { return nil }
        let outer = open[parent]
        guard Self.containers.contains(outer.name) else {
            return "<\(name)> within <\(outer.name)> of line \(outer.line)"
        }
        guard outer.name == "dict" else { return nil }
        guard outer.hasKey != (name == "key") else {
            return outer.hasKey ? "<key>, and the key before it has no value" : "<\(name)> without a <key> before it"
        }
        open[parent].hasKey.toggle()
        return nil
    }

    private mutating func end(_ name: String) -> String? {
        guard let last = open.popLast() else { return "</\(name)>, and nothing is open" }
        guard last.name == name else { return "</\(name)>, and <\(last.name)> of line \(last.line) is not closed" }
        return last.hasKey ? "</dict>, and the last key has no value" : nil
    }

    // MARK: Text

    private mutating func text() -> String? {
        let end = bytes[offset...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
        if let last = open.last, !Self.containers.contains(last.name) {
            if let fault = reference(before: end) { return fault }
        } else if let first = bytes[offset..<end].firstIndex(where: { $0 > 0x20 }) {
            move(to: first)
            return "text that is in no element"
        }
        move(to: end)
        return nil
    }

    private mutating func reference(before end: Int) -> String? {
        while let ampersand = bytes[offset..<end].firstIndex(of: UInt8(ascii: "&")) {
            move(to: ampersand + 1)
            let name = self.name(from: offset)
            guard name.hasPrefix("#") || Self.entities.contains(name), has(name + ";") else {
                return "“&” that begins no known reference: write “&amp;”"
            }
        }
        return nil
    }

    // MARK: Bytes

    /// What can be a name, or a reference's number.
    private func name(from start: Int) -> String {
        let bytes = bytes[start...].prefix(64).prefix {
            $0 > 0x20 && ![UInt8(ascii: ">"), UInt8(ascii: "/"), UInt8(ascii: "<"), UInt8(ascii: ";")].contains($0)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func has(_ mark: String) -> Bool { bytes[offset...].starts(with: mark.utf8) }

    /// Moves past the next such mark, if there is one.
    private mutating func pass(to mark: String) -> Bool {
        guard let first = mark.utf8.first else { return false }
        var start = offset
        while let candidate = bytes[start...].firstIndex(of: first) {
            start = candidate + 1
            guard bytes[candidate...].starts(with: mark.utf8) else { continue }
            move(to: candidate + mark.utf8.count)
            return true
        }
        return false
    }

    private mutating func move(to end: Int) {
        line += bytes[offset..<end].count { $0 == UInt8(ascii: "\n") }
        offset = end
    }
}
