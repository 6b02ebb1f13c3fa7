// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import Testing

@testable import SyncPlan

@Suite("Sentences about stale images")
struct StalenessTests {
    private static let now = Sample.start + .seconds(7200)

    /// An icon whose image came two hours ago, and whose refresh failed if there is a code.
    private static func icon(failure code: String?) -> IconRecord {
        var icon = IconRecord([.named(by: ["a.plist"]), .found("x")])
        let failure = code.flatMap(FetchFailure.Code.init(rawValue:)).map {
            IconRecord.Failure(code: $0, message: "", attempts: 1, nextAttempt: now)
        }
        icon.apply(.remembered(nil, freshUntil: Sample.start + .seconds(3600), failure, nil))
        return icon
    }

    /// The response that brought the image.
    private static func response(_ cacheControl: String) -> StoredResponse {
        StoredResponse(
            fields: HTTPFields([("Cache-Control", cacheControl)]), requestTime: Sample.start,
            responseTime: Sample.start)
    }

    @Test(
        "the sentence about a stale image says since when, and why",
        arguments: ["http-503", "not-an-image"])
    func sentence(failure: String) {
        let text = Self.icon(failure: failure).staleness(by: Self.response("max-age=3600"), at: Self.now)
        let start = Sample.start + .seconds(3600)
        #expect(text == "Stale since \(start): its last refresh failed (\(failure)). The image is still used.")
    }

    @Test("the sentence about an image without a known response says only the failure")
    func unknown() {
        let text = Self.icon(failure: "dns").staleness(by: nil, at: Self.now)
        #expect(text == "Its last refresh failed (dns), and its freshness is unknown.")
        #expect(Self.icon(failure: nil).staleness(by: nil, at: Self.now) == nil)
    }

    @Test("an image whose server says nothing of its freshness is not called stale since it came")
    func unsaid() {
        let text = Self.icon(failure: "dns").staleness(by: Self.response("public"), at: Self.now)
        #expect(text == "Its last refresh failed (dns), and its server says nothing of its freshness.")
    }

    @Test("a fresh image whose last refresh failed has a sentence, too")
    func fresh() {
        let text = Self.icon(failure: "dns").staleness(by: Self.response("max-age=7201"), at: Self.now)
        #expect(text == "Its last refresh failed (dns); it is fresh until \(Sample.start + .seconds(7201)).")
    }

    @Test("images without a failed refresh, retired images and missing images have no sentence")
    func nothing() {
        #expect(Self.icon(failure: nil).staleness(by: Self.response("max-age=3600"), at: Self.now) == nil)
        var missing = Self.icon(failure: "dns")
        missing.apply(.lost)
        #expect(missing.staleness(by: nil, at: Self.now) == nil)
        var retired = Self.icon(failure: "dns")
        retired.apply(.unnamed(by: "a.plist"))
        #expect(retired.staleness(by: nil, at: Self.now) == nil)
    }
}
