// SPDX-License-Identifier: Apache-2.0
import Glibc
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

    @Test("bytes that an image refers to many times are read once", arguments: Repetitive.all)
    func repetition(file: Repetitive) throws {
        _ = try inspector.verdict(on: file.often).get()
        var (once, often) = (Duration.seconds(1000), Duration.seconds(1000))
        // The least time counts: the machine may be busy.
        for _ in 0..<3 {
            once = min(once, processorTime { _ = inspector.verdict(on: file.once) })
            often = min(often, processorTime { _ = inspector.verdict(on: file.often) })
        }
        #expect(often < once * 20, "\(often), and \(once) for one time")
    }

    private func processorTime(of work: () -> Void) -> Duration {
        func now() -> Duration {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }
        let start = now()
        work()
        return now() - start
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

/// Two files that differ in how often they refer to the same bytes: once, and many times.
struct Repetitive: CustomTestStringConvertible {
    private typealias File = ImageFile

    var testDescription: String
    var once: [UInt8]
    var often: [UInt8]

    static let all: [Repetitive] = [
        Repetitive(testDescription: "ICO, one picture", once: icon(pictures: 1), often: icon(pictures: 100)),
        Repetitive(
            testDescription: "AVIF, locations that take no bytes", once: avif(locations: 1),
            often: avif(locations: 0xFFFF)),
    ]

    /// An icon whose pictures are all the same one of 2 MiB.
    private static func icon(pictures count: Int) -> [UInt8] {
        let picture = File.png(9, 9, chunks: File.chunk("IDAT", File.zeros(1 << 21)))
        let start = 6 + 16 * count
        return File.ico(at: (0..<count).map { _ in start..<start + picture.count }, picture)
    }

    /// A hundred items, each with so many locations.
    private static func avif(locations count: Int) -> [UInt8] {
        let item = [0, 1, 0, 0] + File.big(count, 2)
        return File.media(
            File.fileType("avif"), properties: [File.extent(4, 3)],
            locations: File.box(
                "iloc", [0, 0, 0, 0, 0, 0] + File.big(100, 2), Array(repeatElement(item, count: 100).joined())))
    }
}
