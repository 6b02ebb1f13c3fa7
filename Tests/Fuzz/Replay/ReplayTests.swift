// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import FuzzTargets
import Glibc
import Testing

@Suite("Fuzz targets")
struct ReplayTests {
    @Test("each fuzz target has a folder of kept inputs, and each folder has a target")
    func folders() throws {
        #expect(try Corpus.folders() == FuzzTarget.all.map(\.name))
    }

    @Test("each fuzz target holds for its kept inputs", arguments: FuzzTarget.all)
    func kept(target: FuzzTarget) throws {
        for input in try Corpus.inputs(of: target) {
            #expect(throws: Never.self, "\(target.name)/\(input.name)") { try target.run(input.bytes) }
        }
    }

    @Test("each fuzz target holds for changed inputs", arguments: FuzzTarget.all)
    func changed(target: FuzzTarget) throws {
        // What is looked for longer is looked for by `Tests/Fuzz/run`, which is led by what the code does.
        let rounds = getenv("FUZZ_ROUNDS").flatMap { Int(String(cString: $0)) } ?? 500
        var mutation = Mutation(of: try Corpus.inputs(of: target).map(\.bytes), isText: target.isText, seed: 2026)
        for _ in 0..<rounds {
            let bytes = mutation.next()
            do {
                try target.run(bytes)
            } catch {
                Issue.record("\(target.name): \(error), with \(Data(bytes).base64EncodedString())")
                return
            }
        }
    }
}

extension FuzzTarget: CustomTestStringConvertible {
    package var testDescription: String { name }
}

/// The inputs that are kept.
enum Corpus {
    private static let folder = #filePath.split(separator: "/").dropLast(2).map { "/" + $0 }.joined() + "/Corpus"

    /// The names of the folders, sorted.
    static func folders() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }

    /// The inputs of a target, sorted by name.
    static func inputs(of target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
        try FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(target.name)").sorted().map { name in
            (name, try [UInt8](Data(contentsOf: URL(filePath: "\(folder)/\(target.name)/\(name)"))))
        }
    }
}
