// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// An address and a port to listen on: `127.0.0.1:8080`, `[::1]:8080`.
package struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// The IP address, without brackets.
    package let host: String
    /// The port; 0 for any free one.
    package let port: Int
    /// Whether only this machine can connect to the address.
    package let isLoopback: Bool

    /// Parses an address with its port, where `localhost` means 127.0.0.1; `nil` for any other form.
    package init?(_ given: some StringProtocol) {
        let text = Substring(given)
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")),
            case let digits = text[text.utf8.index(after: colon)...],
            !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = UInt16(digits)
        else { return nil }
        var host = String(text[..<colon])
        if host == "localhost" { host = "127.0.0.1" }
        if host.starts(withBytes: "[") {
            guard host.ends(withBytes: "]") else { return nil }
            host = host.dropping(bytes: 1).droppingLast(bytes: 1)
            guard host.contains(bytes: ":") else { return nil }
        } else if host.contains(bytes: ":") {
            return nil
        }
        guard let address = IPAddress(host) else { return nil }
        self.host = host
        self.port = Int(port)
        let bytes = address.bytes
        isLoopback = bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    private init(host: String, port: Int, isLoopback: Bool) {
        (self.host, self.port, self.isLoopback) = (host, port, isLoopback)
    }

    package static let anyLoopbackPort = ListenAddress(host: "127.0.0.1", port: 0, isLoopback: true)

    package func with(port: Int) -> ListenAddress {
        ListenAddress(host: host, port: port, isLoopback: isLoopback)
    }

    /// Whether the agent cannot listen on both: they have a port and an address in common.
    package func overlaps(_ other: ListenAddress) -> Bool {
        guard port != 0, port == other.port else { return false }
        let hosts: Set = [host, other.host]
        // A socket on :: also listens on all IPv4 addresses (ipv6(7), IPV6_V6ONLY).
        return hosts.count == 1 || hosts.contains("::")
            || hosts.contains("0.0.0.0") && !hosts.contains { $0.contains(":") }
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
