// SPDX-License-Identifier: Apache-2.0
import AppLists

/// The path of a drawn icon, `/icons/NAME.png`; the name is percent-encoded (RFC 3986), so it can be any text.
package enum IconPath {
    private static let prefix = "/icons/"
    private static let suffix = ".png"

    package static func path(for name: String) -> String {
        prefix + PercentEncoding.encode(name) + suffix
    }

    /// The name in a path; `nil` if it is not the path of an icon.
    package static func name(in path: String) -> String? {
        guard path.hasPrefix(prefix), path.hasSuffix(suffix), path.count >= prefix.count + suffix.count else {
            return nil
        }
        let name = path.dropFirst(prefix.count).dropLast(suffix.count)
        guard !name.contains("/"), let bytes = PercentEncoding.decode(name.utf8) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
