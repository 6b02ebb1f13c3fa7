// SPDX-License-Identifier: Apache-2.0
import ImageChecks
import TestSupport
import Testing

@Suite("Damaged images")
struct ImageDamageTests {
    private typealias File = ImageFile

    /// Wide limits, so that a changed size is no reason to stop.
    private let inspector = ImageInspector(
        limits: ImageLimits(maxSide: .max, maxPixels: .max, maxFrames: .max, allowsSVG: true))

    @Test("an image cut anywhere is rejected", arguments: ImageSample.all)
    func cut(sample: ImageSample) {
        for length in sample.bytes.indices where !sample.isWhole(cutTo: length) {
            let verdict = inspector.verdict(on: sample.bytes, cutTo: length)
            #expect(throws: ImageRejection.self, "after \(length) bytes") { try verdict.get() }
        }
    }

    @Test("an image that is whole before the end of its file is accepted", arguments: ImageSample.all)
    func whole(sample: ImageSample) {
        for length in sample.bytes.indices where sample.isWhole(cutTo: length) {
            #expect(inspector.verdict(on: sample.bytes, cutTo: length) == .success(sample.info))
        }
    }

    @Test("no changed image makes the inspector trap, or has a side without pixels")
    func mutation() {
        #if DEBUG
            let rounds = 5000
        #else
            let rounds = 100_000
        #endif
        var generator = SeededRandom(seed: 2026)
        var accepted = 0
        for _ in 0..<rounds {
            let sample = ImageSample.all[Int(generator.next() % UInt64(ImageSample.all.count))]
            let bytes = mutated(sample, using: &generator)
            guard case .success(let info) = inspector.verdict(on: bytes) else { continue }
            accepted += 1
            if info.width < 1 || info.height < 1 { Issue.record("\(info)") }
        }
        // Neither are all changes fatal, nor none.
        #expect((rounds / 20...rounds * 3 / 4).contains(accepted))
    }

    /// The sample with 1 to 4 bytes changed, most often near the beginning, and sometimes cut or with a part twice.
    private func mutated(_ sample: ImageSample, using generator: inout SeededRandom) -> [UInt8] {
        var bytes = sample.bytes
        let choice = generator.next()
        let reach = min(bytes.count, choice & 1 == 0 ? 48 : 512)
        for _ in 0...(choice >> 1 & 3) {
            let change = generator.next()
            let values: [UInt8] = [0, 1, 0x7F, 0x80, 0xFF, UInt8(truncatingIfNeeded: change >> 32)]
            bytes[Int(change >> 40 % UInt64(reach))] = values[Int(change % 6)]
        }
        // A checksum hides what comes after it.
        if sample.info.type == .png, choice >> 6 & 3 > 0 { bytes = File.rechecked(bytes) }
        if choice >> 3 & 7 == 0 { bytes.removeLast(Int(choice >> 8 % UInt64(bytes.count))) }
        if choice >> 3 & 7 == 1 { bytes += bytes.suffix(Int(choice >> 8 % UInt64(bytes.count))) }
        return bytes
    }

    @Test(
        "bytes that an image refers to thousands of times are not read each time", .timeLimit(.minutes(1)),
        arguments: Repetitive.all)
    func repetition(file: Repetitive) {
        let isAccepted = (try? inspector.verdict(on: file.bytes).get()) != nil
        #expect(isAccepted == file.isAccepted)
    }
}

extension ImageSample {
    /// Whether its last box goes to the end of the file, wherever that is.
    var hasOpenEnd: Bool { name == "AVIF with boxes of long and open length" }

    /// Whether the file is whole without what comes after a length: boxes may follow the data.
    func isWhole(cutTo length: Int) -> Bool {
        switch name {
        // `free` of 18 bytes, and another of 9 that is open.
        case "AVIF with boxes of long and open length":
            [bytes.count - 27, bytes.count - 9, bytes.count - 1].contains(length)
        // `mdat`, which is not needed.
        case "HEIC with data in its description": length == bytes.count - 11
        default: false
        }
    }
}

/// A file that says more with few bytes than could be read in any time.
struct Repetitive: CustomTestStringConvertible {
    private typealias File = ImageFile

    var testDescription: String
    var isAccepted: Bool
    var bytes: [UInt8]

    static let all: [Repetitive] = [
        Repetitive(testDescription: "ICO, one picture", isAccepted: true, bytes: icon { _ in 0 }),
        Repetitive(testDescription: "ICO, one picture of many lengths", isAccepted: false, bytes: icon { $0 % 7 }),
        Repetitive(
            testDescription: "TIFF, a loop", isAccepted: false,
            bytes: File.tiff([(256, 3, 1, 2), (257, 3, 1, 3)] + File.strip, next: 8)),
        Repetitive(
            testDescription: "TIFF, many pages of one list of strips", isAccepted: false,
            bytes: pages(4_000, lists: 4 * 20_000)),
        Repetitive(
            testDescription: "AVIF, many locations that take no bytes", isAccepted: true,
            bytes: File.media(
                File.fileType("avif"), properties: [File.extent(4, 3)],
                locations: File.box(
                    "iloc", [0, 0, 0, 0, 0, 0] + File.big(20_000, 2),
                    [[UInt8]](repeating: [0, 1, 0, 0, 0xFF, 0xFF], count: 20_000).flatMap { $0 }))),
    ]

    /// An icon of 20,000 entries for one picture of 64 KiB.
    private static func icon(shortenedBy shortening: (Int) -> Int) -> [UInt8] {
        let picture = File.png(9, 9, chunks: File.chunk("IDAT", File.zeros(1 << 16)))
        let start = 6 + 16 * 20_000
        return File.ico(at: (0..<20_000).map { start..<start + picture.count - shortening($0) }, picture)
    }

    /// Pages that share the list of their strips, of so many bytes.
    private static func pages(_ count: Int, lists: Int) -> [UInt8] {
        let length = 2 + 12 * 4 + 4
        let end = 8 + count * length
        let fields: File.Fields = [
            (256, 3, 1, 2), (257, 3, 1, 3), (273, 4, lists / 4, end), (279, 4, lists / 4, end),
        ]
        var file = Array(File.tiff(fields).prefix(8))
        for page in 1...count {
            let next = page == count ? 0 : 8 + page * length
            file += File.tiff(fields, next: next).dropFirst(8)
        }
        return file + File.zeros(lists)
    }
}
