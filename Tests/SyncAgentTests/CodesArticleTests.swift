// SPDX-License-Identifier: Apache-2.0
import AppLists
import Fleet
import HTTPRules
import ImageChecks
import TestSupport
import Testing

@Suite("The article on codes")
struct CodesArticleTests {
    /// All codes of downloads, with one row for all statuses.
    private static let downloads =
        FetchFailure.Cause.allCases.map(\.rawValue) + ["http-NNN"] + ImageRejection.Code.allCases.map(\.rawValue)
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
}
