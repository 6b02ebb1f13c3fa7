// SPDX-License-Identifier: Apache-2.0
import Glibc

package struct IPAddress: Hashable, Sendable {
    package let bytes: [UInt8]

    package init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Reads the text forms of `inet_pton(3)`: dotted decimal without leading zeros, or RFC 4291.
    package init?(_ text: some StringProtocol) {
        // A C string would end at the NUL.
        guard !text.utf8.contains(0) else { return nil }
        let isV6 = text.utf8.contains(UInt8(ascii: ":"))
        var bytes = [UInt8](repeating: 0, count: isV6 ? 16 : 4)
        guard inet_pton(isV6 ? AF_INET6 : AF_INET, String(text), &bytes) == 1 else { return nil }
        self.bytes = bytes
    }
}

extension IPAddress: CustomStringConvertible {
    /// The text form of `inet_ntop(3)`: dotted decimal, or RFC 5952.
    package var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(bytes.count == 16 ? AF_INET6 : AF_INET, bytes, &text, socklen_t(text.count)) != nil else {
            preconditionFailure("an address has 4 or 16 bytes, and room for its text")
        }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
