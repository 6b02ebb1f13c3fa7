// SPDX-License-Identifier: Apache-2.0
import AppLists
import HTTPRules
import ImageChecks
import Testing

@Suite("Codes of failed downloads")
struct FetchFailureCodeTests {
    private static let codes: [FetchFailure.Code] =
        FetchFailure.Cause.allCases.map { .fetch($0) } + ImageRejection.Code.allCases.map { .image($0) }
        + URLRefusal.Code.allCases.map { .url($0) } + [100, 304, 404, 503, 999].map { .http($0) }

    @Test("each failure code is read back from its own text")
    func text() {
        for code in Self.codes { #expect(FetchFailure.Code(rawValue: code.rawValue) == code) }
        #expect(Set(Self.codes.map(\.rawValue)).count == Self.codes.count)
        #expect("\(FetchFailure.Code.http(404)) \(FetchFailure.Code.fetch(.protocolViolation))" == "http-404 protocol")
    }

    @Test(
        "unknown text is no failure code",
        arguments: [
            "", "http", "http-", "http-0", "http-099", "http-99", "http-1000", "http-+404", "http--404", "http-0404",
            "http-404 ", "http-٤٠٤", "http-4o4", "HTTP-404", "Timeout", "timeout\0", "disk-full", "no-such-code",
        ])
    func otherText(text: String) {
        #expect(FetchFailure.Code(rawValue: text) == nil)
    }
}
