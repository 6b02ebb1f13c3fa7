// SPDX-License-Identifier: Apache-2.0

/// A block of addresses in CIDR notation (RFC 4632, RFC 4291): `10.0.0.0/8`, `fd00::/8`.
package struct AddressRange: Hashable, Sendable {
    package let base: IPAddress
    /// The number of leading bits that an address must share with `base`.
    package let prefix: Int

    package init(_ base: IPAddress, prefix: Int) {
        precondition((0...base.bytes.count * 8).contains(prefix), "a prefix is no longer than the address")
        self.base = base
        self.prefix = prefix
    }

    /// Reads `10.0.0.0/8`, or a single address; `nil` for anything else.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let base = parts.first.flatMap({ IPAddress($0) }) else { return nil }
        let bits = base.bytes.count * 8
        guard parts.count == 2 else {
            self.init(base, prefix: bits)
            return
        }
        // `Int` accepts signs: “-0” would be the network of all addresses.
        guard parts[1].utf8.allSatisfy(\.isDigit), let prefix = Int(parts[1]), prefix <= bits else { return nil }
        self.init(base, prefix: prefix)
    }

    package func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == base.bytes.count else { return false }
        var left = prefix
        for (a, b) in zip(address.bytes, base.bytes) {
            if left <= 0 { break }
            let mask: UInt8 = left >= 8 ? 0xFF : ~(0xFF >> UInt8(left))
            guard a & mask == b & mask else { return false }
            left -= 8
        }
        return true
    }
}

extension AddressRange: CustomStringConvertible {
    package var description: String { "\(base)/\(prefix)" }
}
