// SPDX-License-Identifier: Apache-2.0
import Testing

/// One case of the HTTP cache tests, as `cases.json` has it.
struct CacheTestCase: Decodable, Sendable, CustomTestStringConvertible {
    enum Kind: String, Decodable, CaseIterable {
        case required, optimal, check
    }

    /// What is to be seen of a response.
    enum ExpectedType: String, Decodable {
        case cached
        case notCached = "not_cached"
        case etagValidated = "etag_validated"
        case lastModifiedValidated = "lm_validated"

        /// The request field that asks for a validation.
        var requestField: String? {
            switch self {
            case .cached, .notCached: nil
            case .etagValidated: "if-none-match"
            case .lastModifiedValidated: "if-modified-since"
            }
        }
    }

    var id: String
    var name: String
    var kind: Kind?
    var dependsOn: [String]?
    var requests: [Step]

    var testDescription: String { id }

    enum CodingKeys: String, CodingKey {
        case id, name, kind, requests
        case dependsOn = "depends_on"
    }
}

extension CacheTestCase {
    /// A field value: a text, or seconds from now, to be written as a date.
    enum Value: Decodable {
        case text(String)
        case secondsFromNow(Int)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let seconds = try? container.decode(Int.self) {
                self = .secondsFromNow(seconds)
            } else {
                self = .text(try container.decode(String.self))
            }
        }
    }

    /// A field that the origin sends.
    struct SentField: Decodable {
        var name: String
        var value: Value
        /// Whether the client must receive it as it was sent, if the response comes from the origin.
        var isCompared: Bool

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            name = try container.decode(String.self)
            value = try container.decode(Value.self)
            isCompared = container.isAtEnd ? true : try container.decode(Bool.self)
        }
    }

    /// A field that the client, or the origin, must see.
    enum ExpectedField: Decodable {
        case present(String)
        case equal(String, Value)
        case greater(String, Int)

        init(from decoder: any Decoder) throws {
            if let name = try? decoder.singleValueContainer().decode(String.self) {
                self = .present(name)
                return
            }
            var container = try decoder.unkeyedContainer()
            let name = try container.decode(String.self)
            let value = try container.decode(Value.self)
            if container.isAtEnd {
                self = .equal(name, value)
            } else if case .text(">") = value {
                self = .greater(name, try container.decode(Int.self))
            } else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "unknown comparison")
            }
        }
    }

    /// A request of the client, what the origin answers if it gets there, and what must be seen.
    struct Step: Decodable {
        struct Status: Decodable {
            var code: Int

            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                code = try container.decode(Int.self)
            }
        }

        var setup: Bool?
        var setupTests: [String]?
        var pauseAfter: Bool?
        var queryArgument: String?

        var responseStatus: Status?
        var responseFields: [SentField]?
        var responseBody: String?
        var responsePause: Int?
        var disconnect: Bool?

        var expectedType: ExpectedType?
        /// The status that must be seen; the inner `nil` if any will do.
        var expectedStatus: Int??
        var expectedFields: [ExpectedField]?
        var expectedMissing: [String]?
        var expectedRequestFields: [ExpectedField]?
        var checksBody: Bool?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case setup
            case setupTests = "setup_tests"
            case pauseAfter = "pause_after"
            case queryArgument = "query_arg"
            case responseStatus = "response_status"
            case responseFields = "response_headers"
            case responseBody = "response_body"
            case responsePause = "response_pause"
            case disconnect
            case expectedType = "expected_type"
            case expectedStatus = "expected_status"
            case expectedFields = "expected_response_headers"
            case expectedMissing = "expected_response_headers_missing"
            case expectedRequestFields = "expected_request_headers"
            case checksBody = "check_body"
            /// How a browser treats redirects; there is none in the cases that are run.
            case redirect
        }

        /// Any key at all, to find those that nothing here looks at.
        private struct AnyKey: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        init(from decoder: any Decoder) throws {
            for key in try decoder.container(keyedBy: AnyKey.self).allKeys
            where CodingKeys(stringValue: key.stringValue) == nil {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "unknown key \(key.stringValue)"))
            }
            let container = try decoder.container(keyedBy: CodingKeys.self)
            func value<Value: Decodable>(_ key: CodingKeys) throws -> Value? {
                try container.decodeIfPresent(Value.self, forKey: key)
            }
            setup = try value(.setup)
            setupTests = try value(.setupTests)
            pauseAfter = try value(.pauseAfter)
            queryArgument = try value(.queryArgument)
            responseStatus = try value(.responseStatus)
            responseFields = try value(.responseFields)
            responseBody = try value(.responseBody)
            responsePause = try value(.responsePause)
            disconnect = try value(.disconnect)
            expectedType = try value(.expectedType)
            if container.contains(.expectedStatus) { expectedStatus = .some(try value(.expectedStatus)) }
            expectedFields = try value(.expectedFields)
            expectedMissing = try value(.expectedMissing)
            expectedRequestFields = try value(.expectedRequestFields)
            checksBody = try value(.checksBody)
        }
    }
}
