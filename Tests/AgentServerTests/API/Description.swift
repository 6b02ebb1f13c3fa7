// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials

@testable import AgentServer

/// The description of the API, as far as the tests hold it against the code.
struct Description: Decodable, Sendable {
    struct Info: Decodable, Sendable { var version: String }

    struct Operation: Decodable, Sendable {
        struct Parameter: Decodable, Sendable {
            var name: String
            var `in`: String
            var schema: Schema
        }

        struct Content: Decodable, Sendable { var schema: Schema }

        struct Body: Decodable, Sendable { var content: [String: Content] }

        /// What is answered, or a reference to a response of several routes.
        struct Response: Decodable, Sendable {
            var reference: String?
            var content: [String: Content]?

            private enum CodingKeys: String, CodingKey { case reference = "$ref", content }
        }

        var operationId: String
        var description: String
        var parameters: [Parameter]?
        var requestBody: Body?
        var responses: [String: Response]
    }

    struct Components: Decodable, Sendable {
        var schemas: [String: Schema]
        var responses: [String: Operation.Body]
    }

    var info: Info
    /// By path and method.
    var paths: [String: [String: Operation]]
    var components: Components

    static func read() throws -> Description {
        try JSONDecoder().decode(Description.self, from: Data(OpenAPI.text.utf8))
    }

    /// By method and path: `GET /v1/status`.
    var operations: [String: Operation] {
        var operations: [String: Operation] = [:]
        for (path, methods) in paths {
            for (method, operation) in methods { operations["\(method.uppercased()) \(path)"] = operation }
        }
        return operations
    }

    func schema(_ name: String) throws -> Schema {
        guard let schema = components.schemas[name] else { throw Missing(schema: name) }
        return schema
    }

    struct Missing: Error { var schema: String }
}

/// A JSON Schema, as far as the description uses it.
final class Schema: Decodable, Sendable {
    let reference: String?
    let types: [String]
    let properties: [String: Schema]
    let required: Set<String>
    let isClosed: Bool
    let items: Schema?
    let alternatives: [Schema]
    let values: [String]
    let constant: Int?

    private enum Key: String, CodingKey {
        case reference = "$ref", types = "type", properties, required, isClosed = "additionalProperties", items
        case alternatives = "anyOf", values = "enum", constant = "const"
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        reference = try values.decodeIfPresent(String.self, forKey: .reference)
            .map { String($0.split(separator: "/").last ?? "") }
        types =
            try (try? values.decode([String].self, forKey: .types))
            ?? values.decodeIfPresent(String.self, forKey: .types).map { [$0] } ?? []
        properties = try values.decodeIfPresent([String: Schema].self, forKey: .properties) ?? [:]
        required = try values.decodeIfPresent(Set<String>.self, forKey: .required) ?? []
        isClosed = try values.decodeIfPresent(Bool.self, forKey: .isClosed) == false
        items = try values.decodeIfPresent(Schema.self, forKey: .items)
        alternatives = try values.decodeIfPresent([Schema].self, forKey: .alternatives) ?? []
        self.values = try values.decodeIfPresent([String].self, forKey: .values) ?? []
        constant = try values.decodeIfPresent(Int.self, forKey: .constant)
    }

    /// The schemas that it refers to.
    var references: Set<String> {
        (Array(properties.values) + alternatives + [items].compactMap(\.self))
            .reduce(into: Set([reference].compactMap(\.self))) { $0.formUnion($1.references) }
    }

    /// The enumerated values by the path of their property; references are not followed.
    func enumerations(at path: String) -> [String: [String]] {
        var found: [String: [String]] = values.isEmpty ? [:] : [path: values]
        for (name, schema) in properties { found.merge(schema.enumerations(at: "\(path).\(name)")) { a, _ in a } }
        for schema in alternatives + [items].compactMap(\.self) {
            found.merge(schema.enumerations(at: path)) { a, _ in a }
        }
        return found
    }
}

extension Description {
    /// A document that a schema allows; `choice` chooses among enumerated values.
    ///
    /// It is full, with all members and no null, or has only those that are required, null where that is allowed.
    func sample(_ schema: Schema, isFull: Bool, choice: Int = 0) throws -> JSON {
        if let name = schema.reference { return try sample(try self.schema(name), isFull: isFull, choice: choice) }
        if let first = schema.alternatives.first {
            return isFull ? try sample(first, isFull: true, choice: choice) : .null
        }
        if !isFull, schema.types.contains("null") { return .null }
        if !schema.values.isEmpty { return .string(schema.values[choice % schema.values.count]) }
        switch schema.types.first {
        case "object":
            let names = schema.properties.keys.filter { isFull || schema.required.contains($0) }
            return .object(
                try names.sorted().map { name in
                    (name, try sample(schema.properties[name] ?? schema, isFull: isFull, choice: choice))
                })
        case "array":
            guard isFull, let items = schema.items else { return [] }
            return .array(try (0..<2).map { try sample(items, isFull: true, choice: choice + $0) })
        case "integer": return .number(schema.constant ?? (isFull ? 7 : 0))
        case "boolean": return .bool(isFull)
        default: return .string(isFull ? "text" : "")
        }
    }

    /// What in a document the schema does not allow, or does not name.
    func faults(of json: JSON, in schema: Schema, at path: String) throws -> [String] {
        if let name = schema.reference { return try faults(of: json, in: try self.schema(name), at: path) }
        if !schema.alternatives.isEmpty {
            let all = try schema.alternatives.map { try faults(of: json, in: $0, at: path) }
            return all.contains([]) ? [] : all.joined().map(\.self)
        }
        switch json {
        case .lines(let inner): return try faults(of: inner, in: schema, at: path)
        case .null where schema.types.contains("null"): return []
        case .bool where schema.types.contains("boolean"): return []
        case .number(let number) where schema.types.contains("integer"):
            return number >= 0 && number == schema.constant ?? number ? [] : ["\(path) is \(number)"]
        case .string(let text) where schema.types.contains("string"):
            return schema.values.isEmpty || schema.values.contains(text) ? [] : ["\(path) is “\(text)”"]
        case .array(let values) where schema.types.contains("array"):
            return try values.flatMap { try faults(of: $0, in: schema.items ?? schema, at: path) }
        case .object(let members) where schema.types.contains("object"):
            let missing = schema.required.subtracting(members.map(\.key)).sorted().map { "\(path).\($0) is missing" }
            return try missing
                + members.flatMap { name, value in
                    guard let inner = schema.properties[name] else { return ["\(path).\(name) is not described"] }
                    return try faults(of: value, in: inner, at: "\(path).\(name)")
                }
        default: return ["\(path) is \(json.line), not \(schema.types)"]
        }
    }
}

extension JSON {
    /// Reads a document; its keys are sorted.
    init(reading text: some StringProtocol) throws {
        self = try JSONDecoder().decode(Parsed.self, from: Data(text.utf8)).json
    }

    /// The document on one line, with sorted keys.
    var sorted: String {
        get throws { try JSON(reading: line).line }
    }

    /// The same object without some of its members.
    func without(_ names: Set<String>) -> JSON {
        switch self {
        case .object(let members): .object(members.filter { !names.contains($0.key) })
        case .lines(let json): json.without(names)
        default: self
        }
    }

    subscript(name: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == name }?.value
    }

    private struct Parsed: Decodable {
        var json: JSON

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if value.decodeNil() {
                json = .null
            } else if let bool = try? value.decode(Bool.self) {
                json = .bool(bool)
            } else if let number = try? value.decode(Int.self) {
                json = .number(number)
            } else if let text = try? value.decode(String.self) {
                json = .string(text)
            } else if let values = try? value.decode([Parsed].self) {
                json = .array(values.map(\.json))
            } else {
                let members = try value.decode([String: Parsed].self).sorted { $0.key < $1.key }
                json = .object(members.map { ($0.key, $0.value.json) })
            }
        }
    }
}
