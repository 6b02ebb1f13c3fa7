// SPDX-License-Identifier: Apache-2.0

/// The number that says which key made a signature: it chooses the key, and proves nothing.
package struct KeyID: Hashable, Sendable, CustomStringConvertible {
    /// Its eight bytes, as they are in files.
    let bytes: [UInt8]

    init(_ bytes: some Collection<UInt8>) {
        precondition(bytes.count == 8, "a key's number has 8 bytes")
        self.bytes = Array(bytes)
    }

    /// 16 hexadecimal digits, as minisign prints them: the last byte comes first.
    package var description: String {
        bytes.reversed().map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    }
}
