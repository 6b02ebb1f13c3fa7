// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import TestSupport
import Testing

@testable import AgentServer

/// Tests/Golden/openapi-1.0.json is the description that version 1.0.0 served.
///
/// It has the members of what commands print
/// with `--json`, too. It stays as it is within the major version.
@Suite("The API of version 1.0")
struct FirstReleaseTests {
    private indirect enum Value: Decodable, Equatable {
        case object([String: Value])
        case array([Value])
        case text(String)
        case number(Double)
        case truth(Bool)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let members = try? container.decode([String: Value].self) {
                self = .object(members)
            } else if let values = try? container.decode([Value].self) {
                self = .array(values)
            } else if let text = try? container.decode(String.self) {
                self = .text(text)
            } else if let truth = try? container.decode(Bool.self) {
                self = .truth(truth)
            } else {
                self = .number(try container.decode(Double.self))
            }
        }

        subscript(key: String) -> Value? {
            if case .object(let members) = self { members[key] } else { nil }
        }
    }

    /// What is for people.
    private static let texts: Set = ["description", "summary", "title", "example", "examples", "info"]

    /// The paths of all that has gone or become another.
    private static func losses(of old: Value, in new: Value?, at path: String = "", inRequest: Bool = false) -> [String]
    {
        guard let new else { return [path] }
        switch (old, new) {
        case (.object(let members), .object(let others)):
            var lost = members.filter { !texts.contains($0.key) }.flatMap { key, value in
                losses(
                    of: value, in: others[key], at: "\(path)/\(key)", inRequest: inRequest || key == "requestBody")
            }
            // What a client need not have sent then, it need not send now.
            if inRequest, others["required"] != nil, others["required"] != members["required"] {
                lost.append("\(path)/required")
            }
            return lost
        case (.array(let values), .array(let others)):
            return values.enumerated().flatMap { index, value in
                let name = value["name"]
                let same = others.first { $0 == value || name != nil && $0["name"] == name }
                return losses(of: value, in: same, at: "\(path)/\(index)", inRequest: inRequest)
            }
        default: return old == new ? [] : [path]
        }
    }

    private static func losses(_ old: String, _ new: String) throws -> [String] {
        func value(_ text: String) throws -> Value { try JSONDecoder().decode(Value.self, from: Data(text.utf8)) }
        return losses(of: try value(old), in: try value(new))
    }

    @Test("the API keeps all of version 1.0")
    func description() throws {
        let first = try String(contentsOfFile: "\(Article.project)/Tests/Golden/openapi-1.0.json", encoding: .utf8)
        #expect(try Self.losses(first, OpenAPI.text) == [])
    }

    @Test(
        "the comparison with version 1.0 finds each kind of loss",
        arguments: [
            (#"{"a":1}"#, #"{"a":1,"b":2}"#, [String]()), (#"{"a":1}"#, "{}", ["/a"]),
            (#"{"a":1}"#, #"{"a":2}"#, ["/a"]),
            (#"{"enum":["a"]}"#, #"{"enum":["b","a"]}"#, []), (#"{"enum":["a"]}"#, #"{"enum":["b"]}"#, ["/enum/0"]),
            (#"{"description":"a"}"#, #"{"description":"b"}"#, []),
            (#"[{"name":"a","in":"path"}]"#, #"[{"name":"a","in":"query"}]"#, ["/0/in"]),
            (#"{"requestBody":{}}"#, #"{"requestBody":{"required":["a"]}}"#, ["/requestBody/required"]),
        ])
    func loss(old: String, new: String, lost: [String]) throws {
        #expect(try Self.losses(old, new) == lost)
    }
}
