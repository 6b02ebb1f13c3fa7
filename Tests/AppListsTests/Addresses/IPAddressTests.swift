// SPDX-License-Identifier: Apache-2.0
import AppLists
import TestSupport
import Testing

@Suite("Addresses and ranges of them")
struct IPAddressTests {
    @Test(
        "an address is read, and shown as inet_ntop(3) shows it",
        arguments: [
            ("0.0.0.0", "0.0.0.0"), ("127.0.0.1", "127.0.0.1"), ("255.255.255.255", "255.255.255.255"),
            ("::", "::"), ("::1", "::1"), ("1::", "1::"), ("2001:DB8::1", "2001:db8::1"),
            ("2001:0db8:0000:0000:0000:0000:0000:0001", "2001:db8::1"), ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
            ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("2001:db8::1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
            ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"), ("0:0:1::", "0:0:1::"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
            ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"), ("::ffff:127.0.0.1", "::ffff:127.0.0.1"),
            ("::1.2.3.4", "::1.2.3.4"),
            ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"), ("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"),
            ("fe80::", "fe80::"),
        ])
    func read(text: String, canonical: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == canonical)
        #expect(IPAddress(canonical) == address)
    }

    @Test(
        "text that is no IP address is refused",
        arguments: [
            "", " ", ".", "1", "1.2.3", "1.2.3.4.5", "1.2.3.", ".1.2.3", "1..2.3", "256.0.0.1", "01.2.3.4",
            "00.0.0.0", "0x1.2.3.4", "1.2.3.4 ", " 1.2.3.4", "+1.2.3.4", "-1.2.3.4", "١.٢.٣.٤", ":", ":::", "::::",
            "1:::2", "1::2::3", ":1", "1:", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9",
            "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8", "1:2:3:4::5:6:7:8", "12345::", "g::", "::1%eth0", "[::1]", "::+1",
            "::-0", "-0::1", "::-1", "::1.2.3", "::1.2.3.4.5", "::1.2.3.256", "::01.2.3.4", "1.2.3.4::", "::1.2.3.4:5",
            "1:2:3:4:5:6:7:1.2.3.4", "::1 ", " ::1", "::1/128", "１::", "fe80::\u{301}1",
        ])
    func refuse(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test("only 4 and 16 bytes are an address", arguments: [0, 1, 3, 5, 15, 17])
    func bytes(count: Int) {
        #expect(IPAddress(bytes: Array(repeating: 1, count: count)) == nil)
    }

    @Test(
        "a range has the addresses that share its leading bits",
        arguments: [
            ("10.0.0.0/8", "10.255.255.255", true), ("10.0.0.0/8", "11.0.0.0", false), ("10.9.9.9/8", "10.0.0.1", true),
            ("0.0.0.0/0", "255.1.2.3", true), ("0.0.0.0/0", "::1", false), ("::/0", "1.2.3.4", false),
            ("::/0", "ffff::", true), ("172.16.0.0/12", "172.31.255.255", true), ("172.16.0.0/12", "172.32.0.0", false),
            ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false), ("192.0.2.0/31", "192.0.2.1", true),
            ("192.0.2.0/31", "192.0.2.2", false), ("fe80::/10", "febf::1", true), ("fe80::/10", "fec0::1", false),
            ("::1", "::1", true), ("::1", "::", false), ("fd00::/8", "fdff:ffff::", true), ("::/127", "::2", false),
            ("2001:db8::/33", "2001:db8:7fff::", true), ("2001:db8::/33", "2001:db8:8000::", false),
        ])
    func contains(range: String, address: String, isInside: Bool) throws {
        let range = try #require(AddressRange(range))
        let address = try #require(IPAddress(address))
        #expect(range.contains(address) == isInside)
    }

    @Test(
        "text that is no address range is refused",
        arguments: [
            "", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/-0", "::/-000", "10.0.0.0/+8",
            "10.0.0.0/8/8", "10.0.0.0/8 ",
            "10.0.0.0 /8", "10.0.0/8", "10/8", "::/129", "fd00::/8x", "example.com/8", "10.0.0.0/255.0.0.0",
        ])
    func refuseRange(text: String) {
        #expect(AddressRange(text) == nil)
    }

    @Test("random text is an IPv4 address exactly if it is four numbers up to 255 without leading zeros")
    func random() {
        var generator = SeededRandom(seed: 1)
        for _ in 0..<5000 {
            let text = String(
                (0..<Int.random(in: 5...13, using: &generator)).map { _ in
                    "0012569...ax".randomElement(using: &generator) ?? "."
                })
            let parts = text.split(separator: ".", omittingEmptySubsequences: false)
            let numbers = parts.compactMap { part in UInt8(part).flatMap { "\($0)" == part ? $0 : nil } }
            let expected = parts.count == 4 && numbers.count == 4 ? numbers : nil
            #expect(IPAddress(text)?.bytes == expected, "\(text)")
        }
    }
}
