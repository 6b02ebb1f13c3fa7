// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import Glibc
import HTTPRules

/// A configuration file in TOML.
package struct ConfigurationFile: Sendable {
    package static let maxBytes = ByteCount.mebibytes(1)

    struct Entry: Sendable {
        var key: SettingKey
        var elements: [String]
        var line: Int
    }

    package let path: String
    var entries: [Entry] = []
    var keys: [CacheKeys.Rule] = []
    package var problems: [ConfigurationProblem] = []

    /// Reads a file; with `isOptional`, a missing file counts as empty.
    package init(path: String, isOptional: Bool = false) {
        self.init(path: path, text: "")
        do throws(ConfigurationProblem) {
            if let text = try Self.text(of: path) {
                self.init(path: path, text: text)
            } else if !isOptional {
                problems = [ConfigurationProblem(path, "The file does not exist. Create it, or name another one.")]
            }
        } catch {
            problems = [error]
        }
    }

    /// Takes a text for the contents of the file at `path`.
    package init(path: String, text: String) {
        self.path = path
        let reader = ConfigurationReader(path: path, text: text)
        (entries, keys, problems) = (reader.entries, reader.keys, reader.problems)
    }

    /// The contents; `nil` if the file does not exist.
    ///
    /// `flaw` checks the open file, and says what is wrong with it as a sentence.
    static func text(
        of path: String, flaw: (stat) -> String? = { _ in nil }
    ) throws(ConfigurationProblem) -> String? {
        func problem(_ message: String) -> ConfigurationProblem { ConfigurationProblem(path, message) }
        // Without O_NONBLOCK, opening a FIFO waits for a writer.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            // ENOTDIR: a component of the path is not a folder.
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw problem("Cannot open the file: \(String(cString: strerror(errno))). Check its path and permissions.")
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw problem("It is not a regular file: name a TOML file.")
        }
        if let flaw = flaw(status) { throw problem(flaw) }
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
