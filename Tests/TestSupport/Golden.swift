// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
package import Testing

/// Output that is kept in a file, and held against it: `Tests/Golden/NAME`.
///
/// `GOLDEN=write` writes the files anew; `git diff` then shows what changed.
package enum Golden {
    private static let folder = FilePath(#filePath).removingLastComponent().removingLastComponent().appending("Golden")

    /// Expects text to be what its file has.
    package static func expect(
        _ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let path = folder.appending(name)
        if getenv("GOLDEN").map({ String(cString: $0) }) == "write" {
            mkdir(folder.string, 0o755)
            return try write(text, to: path)
        }
        let kept = (try? FileDescriptor.open(path, .readOnly)).map { file in
            defer { try? file.close() }
            var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
            while let count = try? buffer.withUnsafeMutableBytes({ try file.read(into: $0) }), count > 0 {
                bytes += buffer[..<count]
            }
            return String(decoding: bytes, as: UTF8.self)
        }
        let advice = "\(name) has changed: look at it, and write it with GOLDEN=write"
        expectLines(text, kept ?? "", advice, sourceLocation: sourceLocation)
    }
}
