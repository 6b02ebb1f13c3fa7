// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Reports
import Testing

@testable import SyncAgentCLI

@Suite("The outcome of an eviction")
struct EvictionOutcomeTests {
    private static func report(_ names: [String]) throws -> EvictionReport {
        let icons = names.map { #"{"url":"https://a/\#($0)","path":"p","bytes":1,"goes":false,"reason":"leased"}"# }
        let json = #"{"state":"active","icons":[\#(icons.joined(separator: ","))],"leases":[],"isSettled":true}"#
        return try JSONDecoder().decode(EvictionReport.self, from: Data(json.utf8))
    }

    @Test(
        "the outcome of an eviction separates icons that were retired while it waited",
        arguments: [
            (["a", "b"], [], ["2 icons evicted"]),
            (["a", "b"], ["b"], ["1 icon evicted, 1 kept:", "EVICT  WHY     URL", "no     leased  https://a/b"]),
            (["a"], ["c"], ["1 icon evicted", "1 icon was retired meanwhile."]),
            ([], ["c", "d"], ["0 icons evicted", "2 icons were retired meanwhile."]),
        ])
    func lines(before: [String], after: [String], expected: [String]) throws {
        let outcome = EvictCommand.Outcome(try Self.report(before), try Self.report(after))
        #expect(outcome.lines(fitting: 80).map(\.plain) == expected)
    }
}
