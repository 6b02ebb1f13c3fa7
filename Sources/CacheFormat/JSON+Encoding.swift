// SPDX-License-Identifier: Apache-2.0

extension JSON {
    /// The value in the form that it encodes: its members in the order of the properties; `nil` becomes `null`.
    ///
    /// An array that is `nil` is empty. Values consist of strings, integers, Booleans, arrays and objects.
    package init(_ value: some Encodable) {
        switch value {
        case let value as String: self = .string(value)
        case let value as Int: self = .number(value)
        case let value as Bool: self = .bool(value)
        default:
            let encoding = JSONEncoding()
            do {
                try value.encode(to: encoding)
            } catch {
                preconditionFailure("\(type(of: value)) cannot be encoded: \(error)")
            }
            self = encoding.json
        }
    }

    /// A document of format 1, made of a value's members; those in `lines` have one element per line.
    package static func document(_ value: some Encodable, lines: Set<String> = []) -> JSON {
        guard case .object(let members) = JSON(value) else { preconditionFailure("a document is an object") }
        return .object([("format", 1)] + members.map { ($0.key, lines.contains($0.key) ? .lines($0.value) : $0.value) })
    }
}

private final class JSONEncoding: Encoder, UnkeyedEncodingContainer, SingleValueEncodingContainer {
    private var value: JSON?
    private var elements: [JSON] = []
    fileprivate var members: [(key: String, value: JSON)]?
    private var isArray = false
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    var json: JSON { value ?? members.map(JSON.object) ?? .array(elements) }
    var count: Int { elements.count }

    func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        members = members ?? []
        return KeyedEncodingContainer(Members(encoding: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        isArray = true
        return self
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encode<T: Encodable>(_ value: T) {
        if isArray { elements.append(JSON(value)) } else { self.value = JSON(value) }
    }

    func encodeNil() { if isArray { elements.append(.null) } else { value = .null } }

    func nestedContainer<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> { container(keyedBy: type) }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { preconditionFailure("no value encodes like this") }
    func superEncoder() -> any Encoder { preconditionFailure("no value encodes like this") }

    private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let encoding: JSONEncoding
        var codingPath: [any CodingKey] { [] }

        func encode<T: Encodable>(_ value: T, forKey key: Key) { add(JSON(value), key) }
        func encodeNil(forKey key: Key) { add(.null, key) }

        // The standard library's versions of these methods leave out members that are `nil`.
        func encodeIfPresent(_ value: String?, forKey key: Key) { add(.string(orNull: value), key) }
        func encodeIfPresent(_ value: Int?, forKey key: Key) { add(value.map(JSON.number) ?? .null, key) }
        func encodeIfPresent(_ value: Bool?, forKey key: Key) { add(value.map(JSON.bool) ?? .null, key) }

        func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) {
            add(value.map { JSON($0) } ?? (T.self is any AnyArray.Type ? [] : .null), key)
        }

        private func add(_ json: JSON, _ key: Key) { encoding.members?.append((key.stringValue, json)) }

        func nestedContainer<Other>(keyedBy type: Other.Type, forKey key: Key) -> KeyedEncodingContainer<Other> {
            preconditionFailure("no value encodes like this")
        }

        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            encoding.nestedUnkeyedContainer()
        }

        func superEncoder() -> any Encoder { encoding.superEncoder() }
        func superEncoder(forKey key: Key) -> any Encoder { encoding.superEncoder() }
    }
}

private protocol AnyArray {}

extension Array: AnyArray {}
