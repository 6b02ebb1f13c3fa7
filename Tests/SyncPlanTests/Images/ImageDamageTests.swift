// SPDX-License-Identifier: Apache-2.0
import SyncPlan
import Testing

@Suite("Damaged image headers")
struct ImageDamageTests {
    /// Wide limits, so that a changed size is no reason to stop.
    private let inspector = ImageInspector(limits: ImageLimits(maxSide: .max, maxPixels: .max))

    @Test("a cut image is rejected, unless its size had been told by then", arguments: ImageSample.all)
    func cut(sample: ImageSample) {
        for length in sample.bytes.indices {
            let verdict = inspector.verdict(on: Array(sample.bytes[..<length]))
            guard case .success(let info) = verdict else { continue }
            #expect(info == sample.info, "after \(length) bytes")
        }
    }

    @Test(
        "a cut image is always rejected where the format tells its length",
        arguments: ImageSample.all.filter { [.webp, .ico, .icns, .avif, .heic].contains($0.info.type) })
    func cutWithLength(sample: ImageSample) {
        // Boxes may follow, so a file that ends after any of them is whole.
        let ends = [.avif, .heic].contains(sample.info.type) ? boxEnds(sample.bytes) : []
        for length in sample.bytes.indices where !ends.contains(length) {
            let verdict = inspector.verdict(on: Array(sample.bytes[..<length]))
            #expect(throws: ImageRejection.self, "after \(length) bytes") { try verdict.get() }
        }
    }

    @Test("no bytes can make it trap, or give a side without pixels")
    func mutation() {
        var generator = SeededGenerator(seed: 2026)
        let samples = ImageSample.all.map(\.bytes)
        var accepted = 0
        for _ in 0..<200_000 {
            guard case .success(let info) = inspector.verdict(on: mutated(samples, using: &generator)) else { continue }
            accepted += 1
            if info.width < 1 || info.height < 1 { Issue.record("\(info)") }
        }
        // Neither are all changes fatal, nor none.
        #expect((10_000...190_000).contains(accepted))
    }

    /// One of the samples with 1 to 4 bytes changed, most often near the beginning, and sometimes cut.
    private func mutated(_ samples: [[UInt8]], using generator: inout SeededGenerator) -> [UInt8] {
        var bytes = samples[Int(generator.next() % UInt64(samples.count))]
        let choice = generator.next()
        let reach = min(bytes.count, choice & 1 == 0 ? 48 : 512)
        for _ in 0...(choice >> 1 & 3) {
            let change = generator.next()
            let values: [UInt8] = [0, 1, 0x7F, 0x80, 0xFF, UInt8(truncatingIfNeeded: change >> 32)]
            bytes[Int(change >> 40 % UInt64(reach))] = values[Int(change % 6)]
        }
        if choice >> 3 & 7 == 0 { bytes.removeLast(Int(choice >> 8 % UInt64(bytes.count))) }
        return bytes
    }

    private func boxEnds(_ bytes: [UInt8]) -> [Int] {
        var ends: [Int] = []
        var end = 0
        while end + 4 <= bytes.count {
            let length = bytes[end..<end + 4].reduce(0) { $0 << 8 | Int($1) }
            guard length > 1 else { return ends + Array(end..<bytes.count) }
            end += length
            ends.append(end)
        }
        return ends
    }
}
