// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import Glibc

/// A configuration file: settings in TOML.
package struct ConfigurationFile: Sendable {
    /// The largest file that is read.
    package static let maxBytes = ByteCount.mebibytes(1)

    /// A value, and the line that it is in.
    struct Entry: Sendable {
        var key: SettingKey
        var elements: [String]
        var line: Int
    }

    package let path: String
    var entries: [Entry] = []
    /// What is wrong with it, in the order of its lines.
    package var problems: [ConfigurationProblem] = []

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - isOptional: Whether it may be missing: then there is nothing in it.
    package init(path: String, isOptional: Bool = false) {
        self.path = path
        do throws(ConfigurationProblem) {
            guard let text = try Self.text(of: path) else {
                if !isOptional {
                    problems = [ConfigurationProblem(path, "The file does not exist. Create it, or name another one.")]
                }
                return
            }
            read(text)
        } catch {
            problems = [error]
        }
    }

    /// Takes a text for that of a file.
    package init(path: String, text: String) {
        self.path = path
        read(text)
    }

    private mutating func read(_ text: String) {
        var reader = ConfigurationReader(path: path, text: text)
        reader.read()
        entries = reader.entries
        problems = reader.problems.sorted { $0.line < $1.line }.map(\.problem)
        if reader.untold > 0 {
            problems.append(ConfigurationProblem(path, "There are \(reader.untold) more errors: correct these first."))
        }
    }

    /// The text of a file; `nil` if there is none.
    private static func text(of path: String) throws(ConfigurationProblem) -> String? {
        func problem(_ message: String) -> ConfigurationProblem { ConfigurationProblem(path, message) }
        // A pipe would have it wait for a writer.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            // Neither the file nor the folder that it would be in.
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw problem("Cannot open the file: \(String(cString: strerror(errno))).")
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw problem("This is not a regular file.")
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw problem("Cannot read the file: \(String(cString: strerror(errno))).") }
            if count == 0 { break }
            bytes += buffer.prefix(count)
            guard bytes.count <= maxBytes.bytes else { throw problem("The file is larger than \(maxBytes).") }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw problem("The file is not UTF-8, which TOML is written in.")
        }
        return text
    }
}
