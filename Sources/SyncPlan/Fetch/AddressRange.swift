// SPDX-License-Identifier: Apache-2.0

/// An IPv4 or IPv6 address, as its 4 or 16 bytes.
package struct IPAddress: Hashable, Sendable {
    package let bytes: [UInt8]

    /// An address from 4 or 16 bytes; `nil` for any other number of them.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Reads dotted decimal (four numbers, no leading zeros) or RFC 4291 text; `nil` for anything else.
    package init?(_ text: some StringProtocol) {
        let bytes = text.contains(":") ? Self.parseV6(String(text)) : Self.parseV4(text)
        guard let bytes else { return nil }
        self.bytes = bytes
    }

    private static func parseV4(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var number: Int?
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39:
                let next = 10 * (number ?? 0) + Int(byte - 0x30)
                guard number != 0, next <= 255 else { return nil }
                number = next
            case UInt8(ascii: "."):
                guard let last = number, bytes.count < 3 else { return nil }
                bytes.append(UInt8(last))
                number = nil
            default: return nil
            }
        }
        guard let last = number, bytes.count == 3 else { return nil }
        return bytes + [UInt8(last)]
    }

    private static func parseV6(_ text: String) -> [UInt8]? {
        func groups(_ text: Substring, mayEndInV4: Bool) -> [UInt8]? {
            guard !text.isEmpty else { return [] }
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            var bytes: [UInt8] = []
            for (index, part) in parts.enumerated() {
                if mayEndInV4, index == parts.count - 1, part.contains(".") {
                    guard let v4 = parseV4(part) else { return nil }
                    bytes += v4
                } else {
                    guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy({ $0 > UInt8(ascii: "-") }),
                        let value = UInt16(part, radix: 16)
                    else { return nil }
                    bytes += [UInt8(value >> 8), UInt8(value & 0xFF)]
                }
            }
            return bytes
        }
        guard let gap = text.firstRange(of: "::") else {
            let bytes = groups(Substring(text), mayEndInV4: true)
            return bytes?.count == 16 ? bytes : nil
        }
        guard let head = groups(text[..<gap.lowerBound], mayEndInV4: false),
            let tail = groups(text[gap.upperBound...], mayEndInV4: true), head.count + tail.count <= 14
        else { return nil }
        return head + Array(repeating: 0, count: 16 - head.count - tail.count) + tail
    }
}

extension IPAddress: CustomStringConvertible {
    /// Dotted decimal, or eight groups of hexadecimal digits with the longest run of zeros as `::` (RFC 5952).
    package var description: String {
        guard bytes.count == 16 else { return bytes.map(String.init).joined(separator: ".") }
        let groups = stride(from: 0, to: 16, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
        var longest = 0..<0
        var start = 0
        while start < groups.count {
            let end = groups[start...].firstIndex { $0 != 0 } ?? groups.count
            if end - start > max(1, longest.count) { longest = start..<end }
            start = end + 1
        }
        func text(_ groups: ArraySlice<UInt16>) -> String {
            groups.map { String($0, radix: 16) }.joined(separator: ":")
        }
        guard !longest.isEmpty else { return text(groups[...]) }
        return text(groups[..<longest.lowerBound]) + "::" + text(groups[longest.upperBound...])
    }
}

/// A block of addresses in CIDR notation (RFC 4632, RFC 4291): `10.0.0.0/8`, `fd00::/8`.
package struct AddressRange: Hashable, Sendable {
    package let base: IPAddress
    /// How many leading bits an address must share with `base`.
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
        // `Int` reads signs, too: “-0” would be a network of all addresses.
        guard parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let prefix = Int(parts[1]), prefix <= bits
        else { return nil }
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
