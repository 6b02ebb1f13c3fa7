// SPDX-License-Identifier: Apache-2.0
import AppLists
import Testing

@testable import HTTPRules

@Suite("The advice on a refused address")
struct AddressAdviceTests {
    @Test(
        "the advice on a refused address is found in every message with it, also where text follows",
        arguments: [("10.1.2.3", true), ("::1", true), ("169.254.1.1", false), ("fd00:ec2::254", false)],
        ["", " [address-refused]; others failed with dns"])
    func found(row: (address: String, isLocal: Bool), rest: String) throws {
        let address = try #require(IPAddress(row.address))
        let refusal = try #require(AddressPolicy().refusal(of: address))
        let message = refusal.text(for: "icons.corp") + rest
        let (cause, advice, end) = try #require(AddressAdvice.find(in: message))
        #expect(advice.range.contains(address) && advice.host == (row.isLocal ? "icons.corp" : nil))
        #expect(cause.hasPrefix("\(address) is not a public address (") && end == rest)
        #expect(cause + advice.clause() + end == message)
    }

    @Test(
        "an address of a network in place of a public one may be that of its login page",
        arguments: [
            ("10.1.2.3", "icons.example", true), ("10.1.2.3", "10.1.2.3", false), ("::1", "icons.example", false),
        ])
    func page(address: String, host: String, isPage: Bool) throws {
        let address = try #require(IPAddress(address))
        let refusal = try #require(AddressPolicy().refusal(of: address))
        let failure = FetchFailure.address(refusal, of: host)
        #expect((failure.page != nil) == isPage)
        let isName = host == "icons.example"
        #expect(failure.persistence == (isName ? .momentary : .lasting))
        let stored = RepeatedFailure(code: failure.code, message: failure.message, attempts: 1, nextAttempt: nil)
        #expect(stored.persistence == failure.persistence && stored.isLasting)
    }

    @Test("the advice on a refused address says where to add the entries if the file is known")
    func file() throws {
        let range = try #require(AddressRange("10.0.0.0/8"))
        #expect(
            AddressAdvice(range: range, host: "a").clause(for: "/f")
                == "; to allow it, add 10.0.0.0/8 to allow, or a to allowHosts, in [network] of /f, and reload")
    }

    @Test(
        "the advice on a refused address is in no other message",
        arguments: [
            "network.denyHosts denies requests to 10.0.0.1", "add 10.0.0.0/8 to network.allow",
            "x; to allow it, add nothing to network.allow", "x; to allow it, add 10.0.0.0/8 to network.deny", "",
        ])
    func absent(message: String) { #expect(AddressAdvice.find(in: message) == nil) }
}
