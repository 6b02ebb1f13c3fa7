// SPDX-License-Identifier: Apache-2.0
import CacheFormat

extension FetchTarget {
    private static let fileScheme = "file://"

    /// Reads the URL of a file or folder on this machine (RFC 8089), which only settings may name.
    ///
    /// - Returns: `nil` if it is none, has a host, or its path is not absolute, has dot segments, or is not UTF-8.
    package static func file(_ text: String) -> FetchTarget? {
        let path = text.dropping(bytes: fileScheme.utf8.count)
        guard text.starts(withBytes: fileScheme + "/"), text.utf8.count <= maxLength,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"?#\\".utf8.contains($0) }),
            let decoded = decoded(path), !decoded.utf8.contains(0),
            !decoded.split(atByte: "/").contains(where: { $0 == "." || $0 == ".." })
        else { return nil }
        return FetchTarget(fileURL: text)
    }

    package var isFile: Bool { url.starts(withBytes: Self.fileScheme) }

    /// The path on this machine; `nil` if it is on a server.
    package var filePath: String? { isFile ? Self.decoded(url.dropping(bytes: Self.fileScheme.utf8.count)) : nil }

    private static func decoded(_ path: String) -> String? {
        PercentEncoding.decode(Substring(path).utf8).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
