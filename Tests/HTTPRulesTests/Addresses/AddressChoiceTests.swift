// SPDX-License-Identifier: Apache-2.0
import AppLists
import Testing

@testable import HTTPRules

@Suite("The choice among the addresses of a host")
struct AddressChoiceTests {
    private static func addresses(_ texts: [String]) throws -> [IPAddress] {
        try texts.map { try #require(IPAddress($0)) }
    }

    @Test(
        "permitted addresses are kept in their order, whatever else the name resolves to",
        arguments: [
            (["8.8.8.8"], ["8.8.8.8"], nil), (["8.8.8.8", "2a00::1"], ["8.8.8.8", "2a00::1"], nil),
            (["fd00::7", "8.8.8.8"], ["8.8.8.8"], "fc00::/7"), (["::", "8.8.8.8"], ["8.8.8.8"], "::/128"),
            (["8.8.8.8", "10.0.0.1", "1.1.1.1"], ["8.8.8.8", "1.1.1.1"], "10.0.0.0/8"),
            (["::ffff:127.0.0.1", "2a00::1"], ["2a00::1"], "127.0.0.0/8"),
            (["169.254.169.254", "8.8.8.8"], ["8.8.8.8"], "169.254.0.0/16"),
            // The first refused address is the one that is told.
            (["10.0.0.1", "::1"], [], "10.0.0.0/8"), (["::1", "10.0.0.1"], [], "::1/128"), ([], [], nil),
        ] as [([String], [String], String?)])
    func mixed(addresses: [String], permitted: [String], refused: String?) throws {
        let choice = AddressChoice(from: try Self.addresses(addresses), by: AddressPolicy())
        let expected = try Self.addresses(permitted)
        #expect(choice.permitted == expected)
        #expect(choice.setting == nil)
        guard case .notPublic(_, let special)? = choice.refusal else {
            #expect(choice.refusal == nil && refused == nil)
            return
        }
        #expect(special.range == refused.flatMap { AddressRange($0) })
    }

    @Test(
        "an AddressChoice permits what the settings allow, not what they deny, and has the setting if it was needed",
        arguments: [
            (["10.0.0.1", "127.0.0.1"], ["127.0.0.1"], "network.allow"),
            (["8.8.8.8", "127.0.0.1"], ["8.8.8.8", "127.0.0.1"], "network.allow"),
            (["1.1.1.1", "8.8.8.8"], ["8.8.8.8"], nil), (["1.1.1.1", "127.0.0.1"], ["127.0.0.1"], "network.allow"),
            (["10.0.0.1", "8.8.8.8"], ["8.8.8.8"], nil), (["1.1.1.1"], [], nil),
        ] as [([String], [String], String?)])
    func settings(addresses: [String], permitted: [String], setting: String?) throws {
        let policy = AddressPolicy(
            allowed: [try #require(AddressRange("127.0.0.0/8"))], denied: try Self.addresses(["1.1.1.1"]))
        let choice = AddressChoice(from: try Self.addresses(addresses), by: policy)
        let expected = try Self.addresses(permitted)
        #expect(choice.permitted == expected)
        #expect(choice.setting == setting)
        #expect((choice.refusal == nil) == (permitted.count == addresses.count))
    }

    @Test("an address that a translator turns into a refused one is left out")
    func translated() throws {
        let base = try #require(IPAddress("2a0c:64::"))
        let prefix = try #require(NAT64Prefix(base, length: 96))
        let addresses = try Self.addresses(["2a0c:64::7f00:9", "2a0c:64::808:808", "8.8.8.8"])
        let choice = AddressChoice(from: addresses, by: AddressPolicy(translations: [prefix]))
        #expect(choice.permitted == Array(addresses.dropFirst()))
        #expect(choice.refusal?.text(for: "h.example").hasPrefix("127.0.0.9 is not a public address") == true)
    }

    @Test("a failed connection tells which address was left out, with the advice to allow it")
    func leftOut() throws {
        let choice = AddressChoice(from: try Self.addresses(["10.0.0.1", "8.8.8.8"]), by: AddressPolicy())
        let refusal = try #require(choice.refusal)
        let failure = FetchFailure(.connect, "cannot connect (x)").leavingOut(refusal, of: "h")
        #expect(
            failure.message == "cannot connect (x); an address is left out: 10.0.0.1 is not a public address "
                + "(private); to allow it, add 10.0.0.0/8 to network.allow, or h to network.allowHosts")
        #expect(AddressAdvice.find(in: failure.message)?.advice.host == "h")
        // These failures have nothing to do with the addresses.
        for other in [FetchFailure(.tls, "x"), .status(404), FetchFailure(.connectionClosed, "x")] {
            #expect(other.leavingOut(refusal, of: "h") == other)
        }
    }
}
