// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import ImageChecks
import TestSupport
import Testing

@Suite("Images without their end marker")
struct EndMarkerTests {
    private typealias File = ImageFile

    private let inspector = ImageInspector()

    /// Expects what is accepted of bytes that cannot be cut off, and that the same bytes are truncated if they could be.
    private func expectEnd(
        _ type: ImageType, _ bytes: [UInt8], isWhole: Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let verdict = inspector.verdict(on: bytes, isComplete: true)
        let info = try? verdict.get()
        #expect((info?.type == type) == isWhole, "\(verdict)", sourceLocation: sourceLocation)
        if !isWhole { #expect(verdict == .failure(.truncatedAtSource(type)), sourceLocation: sourceLocation) }
        #expect(inspector.verdict(on: bytes) == .failure(.truncated(type)), sourceLocation: sourceLocation)
    }

    @Test(
        "a GIF needs no trailer if its last block is whole, and nothing of it can be cut off",
        arguments: [
            (File.gifFrame(5, 5), true), (File.gifFrame(5, 5) + [0], true),
            (File.gifFrame(5, 5) + File.gifFrame(5, 5), true), (File.gifFrame(5, 5) + [0x21, 0xFE, 1, 1, 0], true),
            (File.gifFrame(5, 5, data: [2, 0x4C, 1]), false), (File.gifFrame(5, 5, data: [2, 0x4C]), false),
            (File.gifFrame(5, 5) + [0x21, 0xFE, 1, 1], false), (File.gifFrame(5, 5) + [0x21], false),
            (File.gifFrame(5, 5) + [0x2C, 0], false), ([0x21, 0xFE, 1, 1, 0], false), ([], false),
        ] as [([UInt8], Bool)])
    func gif(blocks: [UInt8], isWhole: Bool) {
        expectEnd(.gif, File.gif(5, 5, blocks: blocks).dropLast(), isWhole: isWhole)
    }

    /// Tables in which the only code, one bit of 0, stands for no coefficient, or for no other one.
    private static func tables(counts: [UInt8] = [1], symbols: [UInt8] = [0]) -> [UInt8] {
        let table = counts + File.zeros(16 - counts.count) + symbols
        return [0xFF, 0xC4] + File.big(2 + 2 * (1 + table.count), 2) + [0x00] + table + [0x10] + table
    }

    /// Both codes of one bit stand for no coefficient, so that any data is good.
    private static let anyBits = tables(counts: [2], symbols: [0, 0])
    private static let restarts: [UInt8] = [0xFF, 0xDD, 0, 4, 0, 1]
    private static let zeros = File.zeros

    /// Six units of six blocks, each of two bits; the last bit is not needed.
    @Test(
        "a JPEG needs no end marker if its last scan has data for all blocks, and nothing of it can be cut off",
        arguments: [
            (tables(), File.scan([1, 2, 3], data: zeros(9)), true),
            (tables(), File.scan([1, 2, 3], data: zeros(8)), false),
            (tables(), File.scan([1, 2, 3], data: zeros(9) + [0xFF]), true),
            (tables(), File.scan([1, 2, 3], data: zeros(9) + [0xFF, 0xFF]), true),
            (tables(), File.scan([1, 2, 3], data: zeros(8) + [0xFF]), false),
            (tables(), File.scan([1, 2, 3], data: zeros(4) + [0x80] + zeros(9)), false),
            (tables(), File.scan([1, 2, 3], data: []), false),
            ([], File.scan([1, 2, 3], data: zeros(99)), false),
            // As many bits as they are needed, each byte of which has a zero byte after it.
            (anyBits, File.scan([1, 2, 3], data: Array(repeatElement([0xFF, 0], count: 9).joined())), true),
            (anyBits, File.scan([1, 2, 3], data: Array(repeatElement([0xFF, 0], count: 8).joined())), false),
            // A component on its own has as many blocks as it fills: 15 of the first, 6 of the others.
            (tables(), File.scan([1]) + File.scan([2]) + File.scan([3], data: zeros(2)), true),
            (tables(), File.scan([1]) + File.scan([2]) + File.scan([3], data: zeros(1)), false),
            (tables(), File.scan([3]) + File.scan([2]) + File.scan([1], data: zeros(4)), true),
            (tables(), File.scan([3]) + File.scan([2]) + File.scan([1], data: zeros(3)), false),
            (tables(), File.scan([1]) + File.scan([2], data: zeros(99)), false),
            (tables(), File.scan([1, 2, 3], data: zeros(9)) + [0xFF, 0xFE, 0, 9], false),
            // Every unit has its own bytes, with a restart marker after them.
            (
                tables() + restarts,
                File.scan([1, 2, 3], data: (0..<5).flatMap { [0, 0, 0xFF, 0xD0 | $0] } + zeros(2)), true
            ),
            (
                tables() + restarts,
                File.scan([1, 2, 3], data: (0..<5).flatMap { [0, 0, 0xFF, 0xD0 | $0] } + zeros(1)), false
            ),
            (
                tables() + restarts,
                File.scan([1, 2, 3], data: (0..<4).flatMap { [0, 0, 0xFF, 0xD0 | $0] } + zeros(99)), false
            ),
            // The table would go on after the file.
            (
                [0xFF, 0xC4, 0, 19, 0] + [UInt8](repeating: 0xFF, count: 16),
                File.scan([1, 2, 3], data: zeros(9)), false
            ),
        ] as [([UInt8], [UInt8], Bool)])
    func jpeg(tables: [UInt8], scans: [UInt8], isWhole: Bool) {
        expectEnd(.jpeg, File.jpeg(33, 17, before: tables, scans: scans).dropLast(2), isWhole: isWhole)
    }

    @Test("a progressive or arithmetic JPEG needs its end marker", arguments: [0xC2, 0xC9, 0xCA] as [UInt8])
    func otherScans(frame: UInt8) {
        let scan = File.scan([1, 2, 3], data: File.zeros(99))
        expectEnd(
            .jpeg, File.jpeg(33, 17, frame: frame, before: Self.tables(), scans: scan).dropLast(2), isWhole: false)
    }

    @Test(
        "a JPEG by a tool may lack its end marker and the end of its last block",
        arguments: ["JPEG", "JPEG with restart markers, by a tool"])
    func written(name: String) throws {
        let sample = try #require(ImageSample.written.first { $0.name == name })
        let accepted = sample.bytes.indices.filter { length in
            (try? inspector.verdict(on: sample.bytes, cutTo: length, isComplete: true).get()) == sample.info
        }
        // Both end with a byte that has no more than the end of the last block.
        #expect(accepted.map { sample.bytes.count - $0 } == [3, 2, 1])
    }

    /// A JPEG, and how many bytes may be missing at its end, of 1 to 8.
    private struct Cuts: Decodable {
        var name: String
        var accepted: [Int]
        var base64: String
    }

    @Test("a JPEG is accepted without its last bytes if the renderer draws it")
    func renderer() throws {
        let file = URL(filePath: "\(Article.project)/Tests/Renderer/jpeg-ends.json")
        let cuts = try JSONDecoder().decode([Cuts].self, from: Data(contentsOf: file))
        #expect(cuts.count == 5)
        for cut in cuts {
            let bytes = [UInt8](try #require(Data(base64Encoded: cut.base64)))
            let accepted = (1...8).filter {
                let verdict = inspector.verdict(on: bytes, cutTo: bytes.count - $0, isComplete: true)
                return (try? verdict.get())?.type == .jpeg
            }
            #expect(accepted == cut.accepted, "\(cut.name)")
        }
    }

    @Test("other formats need all of their bytes", arguments: ImageSample.all)
    func others(sample: ImageSample) {
        guard sample.info.type != .gif, sample.info.type != .jpeg else { return }
        let inspector = ImageInspector(limits: ImageLimits(allowsSVG: true))
        let length = sample.bytes.count - 1
        let verdict = inspector.verdict(on: sample.bytes, cutTo: length, isComplete: true)
        if sample.isWhole(cutTo: length) {
            #expect(verdict == .success(sample.info))
        } else {
            #expect(throws: ImageRejection.self) { try verdict.get() }
        }
    }
}
