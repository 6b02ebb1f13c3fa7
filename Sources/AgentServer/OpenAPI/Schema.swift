// SPDX-License-Identifier: Apache-2.0
import CacheFormat

extension OpenAPI {
    /// The schema of a JSON object (JSON Schema 2020-12), as far as the API uses it.
    struct Schema {
        var members: [(name: String, type: JSON)]
        var required: [String]
        /// Whether other members are allowed: later versions add some to responses; requests must not have any.
        var isOpen = true

        /// A response: all members are required, except the optional ones.
        init(answer members: KeyValuePairs<String, JSON>, optional: KeyValuePairs<String, JSON> = [:]) {
            self.members = (members.map(\.self) + optional.map(\.self)).map { ($0.key, $0.value) }
            required = members.map(\.key)
        }

        init(request members: KeyValuePairs<String, JSON>, required: [String] = []) {
            self.members = members.map { ($0.key, $0.value) }
            self.required = required
            isOpen = false
        }

        var json: JSON {
            var json: [(key: String, value: JSON)] = [
                ("type", "object"), ("properties", .object(members.map { ($0.name, $0.type) })),
            ]
            if !required.isEmpty { json.append(("required", .array(required.map(JSON.string)))) }
            if !isOpen { json.append(("additionalProperties", false)) }
            return .object(json)
        }
    }
}

extension JSON {
    static let anyText: JSON = ["type": "string"]
    static let textOrNull: JSON = ["type": ["string", "null"]]
    static let count: JSON = ["type": "integer", "minimum": 0]
    /// A natural number that JSON clients represent exactly (up to 2^53).
    static let number: JSON = ["type": "integer", "minimum": 0, "maximum": .number(1 << 53)]
    static let countOrNull: JSON = ["type": ["integer", "null"], "minimum": 0]
    static let flag: JSON = ["type": "boolean"]
    static let format: JSON = ["type": "integer", "const": 1]

    static func list(of type: JSON) -> JSON { ["type": "array", "items": type] }
    static func one(of values: String...) -> JSON { ["type": "string", "enum": .array(values.map(JSON.string))] }
    static func schema(_ name: String) -> JSON { ["$ref": .string("#/components/schemas/\(name)")] }
    static func orNull(_ type: JSON) -> JSON { ["anyOf": [type, ["type": "null"]]] }
    static func object(_ members: KeyValuePairs<String, JSON>) -> JSON { OpenAPI.Schema(answer: members).json }
}
