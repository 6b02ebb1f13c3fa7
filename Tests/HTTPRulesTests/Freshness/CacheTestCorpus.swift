// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials

/// The HTTP cache tests, where they are beside the checkout.
enum CacheTestCorpus {
    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "shared/corpora/http/cache-tests")

    static var isPresent: Bool { FileManager.default.fileExists(atPath: folder.path) }

    private struct Suite: Decodable {
        /// A case, or what its tier spares us from understanding.
        struct Entry: Decodable {
            struct Identity: Decodable { var id: String }

            var id: String
            var result: Result<CacheTestCase, any Error>

            init(from decoder: any Decoder) throws {
                id = try Identity(from: decoder).id
                result = Result { try CacheTestCase(from: decoder) }
            }
        }

        var tests: [Entry]
    }

    private struct Tiering: Decodable {
        var id: String
        var tier: String
    }

    /// The cases that apply to a private cache which only ever sends GET.
    static func core() throws -> [CacheTestCase] {
        func decoded<Value: Decodable>(_ type: Value.Type, _ file: String) throws -> Value {
            try JSONDecoder().decode(type, from: Data(contentsOf: folder.appending(path: file)))
        }
        let core = Set(try decoded([Tiering].self, "applicable.json").filter { $0.tier == "core" }.map(\.id))
        return try decoded([Suite].self, "cases.json").flatMap(\.tests).filter { core.contains($0.id) }
            .map { try $0.result.get() }
    }
}
