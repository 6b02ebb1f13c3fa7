// SPDX-License-Identifier: Apache-2.0

/// A JSON value that keeps the order of its keys, on which readers may rely; `JSONEncoder` has no fixed order.
package indirect enum JSON: Sendable {
    case null
    case bool(Bool)
    case number(Int)
    case string(String)
    case array([JSON])
    case object([(key: String, value: JSON)])
    /// An array or an object with one member per line, so that `grep` and `diff` work on it.
    case lines(JSON)

    /// The text, without a final newline.
    package var text: String {
        var text = ""
        write(to: &text, indent: 0, lines: false)
        return text
    }

    /// The text on one line, for streams of JSON values.
    package var line: String {
        var text = ""
        write(to: &text, indent: nil, lines: false)
        return text
    }

    // `indent` is the indentation of new lines; if it is `nil`, everything is on one line.
    private func write(to text: inout String, indent: Int?, lines: Bool) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .number(let value): text += String(value)
        case .string(let value): text += Self.quoted(value)
        case .lines(let value): value.write(to: &text, indent: indent, lines: indent != nil)
        case .array(let values):
            Self.write(values, between: ("[", "]"), to: &text, indent: indent, lines: lines) { value, text, indent in
                value.write(to: &text, indent: indent, lines: false)
            }
        case .object(let members):
            Self.write(members, between: ("{", "}"), to: &text, indent: indent, lines: lines) { member, text, indent in
                text += Self.quoted(member.key)
                text += ": "
                member.value.write(to: &text, indent: indent, lines: false)
            }
        }
    }

    private static func write<Member>(
        _ members: [Member], between brackets: (open: String, close: String), to text: inout String,
        indent: Int?, lines: Bool, each: (Member, inout String, Int?) -> Void
    ) {
        guard !members.isEmpty else {
            text += brackets.open + brackets.close
            return
        }
        let inner = indent.map { lines ? $0 + 2 : $0 }
        let margin = lines ? "\n" + String(repeating: " ", count: inner ?? 0) : " "
        text += brackets.open
        for (index, member) in members.enumerated() {
            text += index == 0 ? margin : "," + margin
            each(member, &text, inner)
        }
        if lines {
            text += "\n" + String(repeating: " ", count: indent ?? 0)
        } else {
            text += " "
        }
        text += brackets.close
    }

    /// A string as JSON text, quotes included (RFC 8259, section 7).
    package static func quoted(_ string: String) -> String {
        var text = JSONText(capacity: string.utf8.count + 2)
        text.string(string)
        return String(decoding: text.bytes, as: UTF8.self)
    }
}

extension JSON: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(nilLiteral: ()) { self = .null }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int) { self = .number(value) }
    package init(stringLiteral value: String) { self = .string(value) }
    package init(arrayLiteral elements: JSON...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSON)...) { self = .object(elements.map { ($0.0, $0.1) }) }

    /// The name of a list, or the URL of an icon.
    package static func text(_ value: some Identity) -> JSON { .string(value.text) }

    /// The string, or `null`.
    package static func string(orNull value: String?) -> JSON { value.map(JSON.string) ?? .null }
}
