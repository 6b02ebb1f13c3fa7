// SPDX-License-Identifier: Apache-2.0
import Reports
import SyncPlan
import TestSupport
import Testing

@testable import CacheFormat
@testable import SyncAgent

@Suite("Answers of the renderer")
struct RenderAnswerTests {
    private static let item = RenderOrder.Item(
        AppListDocument.Image(suffix: "png", sha256: .of("a"), bytes: 1, type: "image/png", width: 9, height: 9),
        pixels: [16, 48])

    private static func numbers(_ numbers: UInt32...) -> [UInt8] {
        numbers.flatMap { withUnsafeBytes(of: $0.littleEndian, Array.init) }
    }

    private static let rendered =
        numbers(0x4152_4E52, 0, 16, 16, 3) + [1, 2, 3] + numbers(48, 20, 2) + [4, 5]
    private static let refused = numbers(0x4152_4E52, 1, 4) + Array("no\u{1B}!".utf8)

    private static func read(_ bytes: [UInt8]) throws -> (answer: RenderAnswer?, rest: Int) {
        var output = RenderOutput()
        output.append(bytes)
        let answer = try RenderAnswer(&output, for: item)
        return (answer, output.count)
    }

    @Test("an answer of the renderer is read once it is whole, and later bytes stay")
    func whole() throws {
        let next: [UInt8] = [7, 7]
        for bytes in [Self.rendered, Self.refused] {
            for length in bytes.indices {
                let (answer, rest) = try Self.read(Array(bytes[..<length]))
                #expect(answer == nil && rest == length)
            }
            #expect(try Self.read(bytes + next).rest == 2)
        }
        #expect(try Self.read(Self.rendered).answer == .rendered([[1, 2, 3], [4, 5]]))
        let (refusal, _) = try Self.read(Self.refused)
        guard case .refused(let failure)? = refusal else { throw RenderAnswer.Malformed() }
        #expect(failure.code == .unsupported && !failure.message.contains("\u{1B}"))
    }

    @Test(
        "bytes that cannot become an answer of the renderer are rejected at once",
        arguments: [
            numbers(0), numbers(0x4152_4E52, 4, 0), numbers(0x4152_4E52, .max, 0), numbers(0x4152_4E52, 1, 1001),
            numbers(0x4152_4E52, 0, 17, 16, 3), numbers(0x4152_4E52, 0, 16, .max, 3),
            numbers(0x4152_4E52, 0, 16, 16, .max), numbers(0x4152_4E52, 0, 16, 16, 5 * 16 * 16 + 4097),
        ])
    func nonsense(bytes: [UInt8]) {
        #expect(throws: RenderAnswer.Malformed.self) { try Self.read(bytes) }
    }

    @Test("no answer of the renderer crashes its reader", arguments: 0..<20)
    func random(seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        var output = RenderOutput()
        let sources = [Self.rendered, Self.refused]
        for _ in 0..<200 {
            var bytes = sources.randomElement(using: &generator) ?? []
            for _ in 0..<Int.random(in: 0..<4, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = .random(in: 0 ... .max, using: &generator)
            }
            output.append(bytes)
            while let found = try? RenderAnswer(&output, for: Self.item) {
                if case .rendered(let images) = found { #expect(images.count == 2) }
            }
        }
    }

    @Test("a greeting says which kinds are read")
    func greeting() throws {
        var output = RenderOutput()
        output.append(Array("SYNCREND".utf8) + Self.numbers(3, 0b1010))
        let greeting = try #require(RenderGreeting(&output))
        #expect(greeting.version == 3 && greeting.reads(.png) && !greeting.reads(.jpeg) && greeting.reads(.gif))
        output.append(Array("SYNCRENE".utf8) + Self.numbers(3, 0b1010))
        #expect(RenderGreeting(&output) == nil)
    }
}
