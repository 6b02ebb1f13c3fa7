// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import HTTPRules
import Reports
import SyncPlan
import TestSupport
import Testing

@Suite("The article on events")
struct EventsArticleTests {
    @Test(
        "the article on events has a row for each kind of event and each cause of a gap, and no other",
        arguments: [
            ("Kinds", AgentEvent.Kind.allCases.map(\.word)), ("Gaps", EventGap.Cause.allCases.map(\.rawValue)),
        ])
    func table(section: String, words: [String]) throws {
        let rows = try Article("Events", of: "SyncAgent").firstColumn(ofTableIn: section)
        #expect(rows == words)
    }

    @Test("the article on events has an example that reads as the event that is written so")
    func example() throws {
        let text = try #require(try Article("Events", of: "SyncAgent").examples(in: "json").first)
        let record = try JSONDecoder().decode(EventRecord.self, from: Data(text.utf8))
        let next = try #require(Timestamp("2026-11-21T03:44:52Z"))
        let failure = IconRecord.Failure(
            code: .http(404), message: FetchFailure.status(404).message, attempts: 1, nextAttempt: next)
        #expect(AgentEvent.iconFailed(try #require(record.url), failure).line(id: record.id, time: record.time) == text)
    }
}
