// SPDX-License-Identifier: Apache-2.0

/// The key number in a signature, which selects the key but proves nothing.
package struct KeyID: Hashable, Sendable, CustomStringConvertible {
    /// Eight bytes, in the order of the file.
    let bytes: [UInt8]

    init(_ bytes: some Collection<UInt8>) {
        precondition(bytes.count == 8, "a key's number has 8 bytes")
        self.bytes = Array(bytes)
    }

    /// 16 hexadecimal digits, last byte first, as minisign prints them.
    package var description: String {
        bytes.reversed().map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    }
}
