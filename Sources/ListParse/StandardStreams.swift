// SPDX-License-Identifier: Apache-2.0
package import AppLists
import Glibc

package enum StandardStreams {
    /// Reads standard input, up to the limit.
    ///
    /// - Throws: ``ListRejection/unreadable(_:)``
    package static func read(atMost limit: Int) throws(ListRejection) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 18)
        while bytes.count < limit {
            let count = Glibc.read(STDIN_FILENO, &chunk, min(chunk.count, limit - bytes.count))
            if count == 0 { break }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw .unreadable(String(cString: strerror(errno)))
            }
            bytes += chunk[..<count]
        }
        return bytes
    }

    /// Writes bytes to standard output; exits if that fails, for example without a reader.
    package static func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { buffer in
            var written = 0
            while written < buffer.count {
                let rest = UnsafeRawBufferPointer(rebasing: buffer[written...])
                let count = Glibc.write(STDOUT_FILENO, rest.baseAddress, rest.count)
                guard count > 0 || errno == EINTR else {
                    fail("cannot write standard output: \(String(cString: strerror(errno)))", status: EX_IOERR)
                }
                written += max(count, 0)
            }
        }
    }

    package static func fail(_ message: String, status: Int32) -> Never {
        let line = Array("syncagent-parse: \(message)\n".utf8)
        _ = Glibc.write(STDERR_FILENO, line, line.count)
        exit(status)
    }
}
