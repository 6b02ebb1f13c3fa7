// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules

extension FuzzTarget {
    /// Texts of settings and of the environment, and addresses as name servers give them.
    static let settings = FuzzTarget(name: "settings", isText: true) { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        if let range = AddressRange(text) {
            try hold(AddressRange("\(range)") == range, "\(range) is another when read again")
            try hold(range.contains(range.base), "\(range) does not contain its base")
            let digits = text.drop { $0 != "/" }.dropFirst()
            try hold(digits.utf8.allSatisfy { (0x30...0x39).contains($0) }, "“\(text)” is taken for \(range)")
        }
        if let pattern = HostPattern(text) {
            try hold(HostPattern("\(pattern)") == pattern, "\(pattern) is another when read again")
        }
        if let proxy = Proxy(text) {
            try hold((1...65_535).contains(proxy.port) && !proxy.host.contains("@"), "\(proxy)")
            let shown = Proxy.withoutPassword(text).utf8
            let marks = shown.count { $0 == UInt8(ascii: "@") }
            try hold(
                proxy.credentials == nil || shown.starts(with: "…".utf8) && marks == 1,
                "a log shows \(Proxy.withoutPassword(text))")
        }
        if let count = ByteCount(text) {
            try hold(count.bytes >= 0 && ByteCount("\(count)") == count, "\(count) is another when read again")
        }
        if let duration = DurationText.parse(text) {
            let again = DurationText.parse(DurationText.format(duration))
            try hold(duration >= .zero && again == duration, "\(DurationText.format(duration)) is \(again as Any)")
        }
        if let address = IPAddress(text) { try check(address) }
        for count in [4, 16] {
            if let address = IPAddress(bytes: Array(bytes.prefix(count))) { try check(address) }
        }
        _ = try? ProxyPolicy(setting: nil) { name in name == "no_proxy" ? text : nil }
    }

    private static func check(_ address: IPAddress) throws {
        try hold(IPAddress("\(address)") == address, "\(address) is another when read again")
        let policy = NetworkRules().addresses(for: "")
        let verdict = policy.verdict(on: address)
        guard address.bytes.count == 4 else { return }
        // However an IPv4 address is dressed, it is judged as what it is.
        for prefix in embeddings {
            guard let dressed = IPAddress(bytes: prefix + address.bytes) else { continue }
            let isRefused = policy.refusal(of: dressed) != nil
            try hold(isRefused || verdict == .isPublic, "\(dressed) is not refused, and \(address) is")
        }
        let all = AddressRange(address, prefix: 0)
        let opened = NetworkRules(allow: [all], denyHosts: [.address(address)]).addresses(for: "")
        try hold(opened.refusal(of: address) != nil, "\(address) is denied, and not refused")
    }

    private static let embeddings: [[UInt8]] = [
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], [0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0],
        [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0],
    ]
}
