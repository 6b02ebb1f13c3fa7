// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import Testing

@testable import SyncPlan

@Suite("Sentences about stale images")
struct StalenessTests {
    private static let now = Sample.start + .seconds(7200)

    /// An icon whose image came two hours ago, and whose refresh failed if there is a code.
    private static func icon(_ cacheControl: String?, failure code: String?) -> IconRecord {
        var icon = IconRecord([.named(by: ["a.plist"]), .found("x")])
        let response = cacheControl.map {
            PackedResponse(
                StoredResponse(
                    fields: HTTPFields([("Cache-Control", $0)]), requestTime: Sample.start,
                    responseTime: Sample.start))
        }
        let failure = code.flatMap(FetchFailure.Code.init(rawValue:)).map {
            IconRecord.Failure(code: $0, message: "", attempts: 1, nextAttempt: now)
        }
        icon.apply(.remembered(response, freshUntil: Sample.start + .seconds(3600), failure, nil))
        return icon
    }

    @Test(
        "the sentence about a stale image says since when, and why",
        arguments: ["http-503", "not-an-image"])
    func sentence(failure: String) {
        let text = Self.icon("max-age=3600", failure: failure).staleness(at: Self.now)
        let start = Sample.start + .seconds(3600)
        #expect(text == "Stale since \(start): its last refresh failed (\(failure)). The image is still used.")
    }

    @Test("the sentence about an image without a known response says only the failure")
    func unknown() {
        let text = Self.icon(nil, failure: "dns").staleness(at: Self.now)
        #expect(text == "Its last refresh failed (dns), and its freshness is unknown.")
        #expect(Self.icon(nil, failure: nil).staleness(at: Self.now) == nil)
    }

    @Test("a fresh image whose last refresh failed has a sentence, too")
    func fresh() {
        let text = Self.icon("max-age=7201", failure: "dns").staleness(at: Self.now)
        #expect(text == "Its last refresh failed (dns); it is fresh until \(Sample.start + .seconds(7201)).")
    }

    @Test("images without a failed refresh, retired images and missing images have no sentence")
    func nothing() {
        #expect(Self.icon("max-age=3600", failure: nil).staleness(at: Self.now) == nil)
        var missing = Self.icon("max-age=3600", failure: "dns")
        missing.apply(.lost)
        #expect(missing.staleness(at: Self.now) == nil)
        var retired = Self.icon("max-age=3600", failure: "dns")
        retired.apply(.unnamed(by: "a.plist"))
        #expect(retired.staleness(at: Self.now) == nil)
    }
}
