// SPDX-License-Identifier: Apache-2.0
import AppLists
import Fleet
import HTTPRules
import ImageChecks
import TestSupport
import Testing

@Suite("The article on codes")
struct CodesArticleTests {
    /// All codes of downloads, with one row for most statuses.
    private static let downloads =
        FetchFailure.Cause.allCases.map(\.rawValue) + ["http-NNN", "http-407", "http-429", "http-503"]
        + ImageRejection.Code.allCases.map(\.rawValue)
        + URLRefusal.Code.allCases.map(\.rawValue) + Shortage.Code.allCases.map(\.rawValue)

    @Test(
        "the article on codes has a row for each code, and none for anything else",
        arguments: [
            ("Downloads", downloads), ("App lists", ListRejection.Code.allCases.map(\.rawValue)),
            ("Upstreams", UpstreamFailure.Refusal.allCases.map(\.rawValue)),
        ])
    func table(section: String, codes: [String]) throws {
        let rows = try Article("Codes", of: "SyncAgent").firstColumn(ofTableIn: section)
        #expect(rows.sorted() == codes.sorted())
    }

    @Test("the article on codes says when the agent tries again after each failed download")
    func retries() throws {
        let rows = try Article("Codes", of: "SyncAgent").text.split(separator: "\n")
        for code in Self.downloads {
            guard let persistence = FetchFailure.Code(rawValue: code)?.persistence else { continue }
            let word =
                switch persistence {
                case .passing, .momentary, .throttled: "soon"
                case .lasting: "later"
                case .forbidden: "after 6 h"
                case .gone: "after 7 days"
                case .refused: "when "
                }
            let cells = try #require(rows.first { $0.hasPrefix("| `\(code)` |") }).split(separator: "|")
            #expect(cells.count > 2 && cells[2].hasPrefix(" \(word)"), "\(code)")
        }
    }
}
