// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Testing

@testable import ImageChecks

/// The files of PngSuite, where they are beside the checkout.
private enum PngSuite {
    static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "shared/corpora/images/pngsuite").path

    static var isPresent: Bool { FileManager.default.fileExists(atPath: folder) }

    static func bytes(of name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: "\(folder)/\(name)")))
    }

    /// The names of the pictures; those of corrupt ones begin with an x.
    static func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".png") }.sorted()
    }
}

@Suite("PngSuite", .enabled(if: PngSuite.isPresent, "shared/corpora/images/pngsuite is not beside the checkout"))
struct PngSuiteTests {
    private let inspector = ImageInspector()

    @Test("every good file is accepted with the size in its header")
    func good() throws {
        let names = try PngSuite.names().filter { !$0.hasPrefix("x") }
        #expect(names.count > 150)
        for name in names {
            let bytes = try PngSuite.bytes(of: name)
            let sides = [16, 20].map { start in bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) } }
            let info = ImageInfo(type: .png, width: sides[0], height: sides[1])
            #expect(inspector.verdict(on: bytes) == .success(info), "\(name)")
        }
    }

    @Test("the squares have the side that their name says")
    func squares() throws {
        for name in try PngSuite.names() where name.hasPrefix("s") {
            let side = try #require(Int(name.dropFirst().prefix(2)))
            let info = ImageInfo(type: .png, width: side, height: side)
            #expect(inspector.verdict(on: try PngSuite.bytes(of: name)) == .success(info), "\(name)")
        }
    }

    @Test(
        "every corrupt file is rejected: all have a fault in their structure or a checksum",
        arguments: [
            // The signature.
            ("xs1n0g01", "not-an-image"), ("xs2n0g01", "not-an-image"), ("xs4n0g01", "not-an-image"),
            ("xs7n0g01", "not-an-image"),
            // Line ends that were converted, in the signature too.
            ("xcrn0g04", "not-an-image"), ("xlfn0g04", "not-an-image"),
            // The colour type and the bit depth.
            ("xc1n0g08", "image-damaged"), ("xc9n2c08", "image-damaged"), ("xd0n2c08", "image-damaged"),
            ("xd3n2c08", "image-damaged"), ("xd9n2c08", "image-damaged"),
            // The checksums of IHDR and IDAT, and an IDAT that is missing.
            ("xhdn0g08", "image-damaged"), ("xcsn0g01", "image-damaged"), ("xdtn0g01", "image-damaged"),
        ])
    func corrupt(name: String, code: String) throws {
        let error = #expect(throws: ImageRejection.self) {
            try inspector.verdict(on: try PngSuite.bytes(of: "\(name).png")).get()
        }
        #expect(error?.code.rawValue == code)
    }

    @Test("there are no more corrupt files than those")
    func corruptCount() throws {
        #expect(try PngSuite.names().filter { $0.hasPrefix("x") }.count == 14)
    }

    @Test("a good file cut at every 64th byte, in its header, or by its last byte, is rejected")
    func cut() throws {
        for name in try PngSuite.names() where !name.hasPrefix("x") {
            let bytes = try PngSuite.bytes(of: name)
            let lengths = Array(0..<33) + Array(stride(from: 64, to: bytes.count, by: 64)) + [bytes.count - 1]
            for length in lengths {
                let verdict = inspector.verdict(on: bytes, cutTo: length)
                guard case .success = verdict else { continue }
                Issue.record("\(name) is accepted after \(length) of \(bytes.count) bytes")
            }
        }
    }
}
