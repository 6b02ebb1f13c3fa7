// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@testable import HTTPRules
@testable import SyncPlan

@Suite("Beginnings of images")
struct PartialImagesTests {
    private static let url: IconURL = "https://a.example/1.png"
    private static let cut = FetchOutcome.failed(FetchFailure(.connectionClosed, "cut"))
    private static let missing = FetchOutcome.failed(.status(404))

    @Test(
        "the partial image of a download is kept, or removed if it is of no use",
        arguments: [
            // Whether there was a part before, how it ended, whether it is of use; kept, removed.
            (false, .cancelled, true, true, false), (false, .cancelled, false, false, true),
            (true, .cancelled, false, false, true), (true, cut, true, true, false), (false, cut, true, true, false),
            (true, missing, true, false, true), (false, missing, true, false, false),
            (false, .notModified(Sample.response(etag: "x")), true, false, false),
            (true, .notModified(Sample.response(etag: "x")), true, false, true),
        ] as [(Bool, FetchOutcome, Bool, Bool, Bool)])
    func ends(hadPart: Bool, outcome: FetchOutcome, isUseful: Bool, isKept: Bool, isRemoved: Bool) {
        var partials = PartialImages(urls: hadPart ? [Self.url] : [])
        #expect(partials.record(outcome, of: Self.url, isUseful: isUseful) == isRemoved)
        #expect(partials.urls.contains(Self.url) == isKept)
    }

    @Test(
        "the partial image of an icon that took the image of another is kept, or removed if it is of no use",
        arguments: [
            (false, .cancelled, true, false, false), (true, .cancelled, true, true, false),
            (true, .cancelled, false, false, true), (true, missing, true, true, false),
            (false, cut, true, false, false), (true, cut, false, false, true),
        ] as [(Bool, FetchOutcome, Bool, Bool, Bool)])
    func shared(hadPart: Bool, outcome: FetchOutcome, isUseful: Bool, isKept: Bool, isRemoved: Bool) {
        var partials = PartialImages(urls: hadPart ? [Self.url] : [])
        #expect(partials.record(outcome, of: Self.url, isRequest: false, isUseful: isUseful) == isRemoved)
        #expect(partials.urls.contains(Self.url) == isKept)
    }

    @Test("every eighth attempt asks for the whole image", arguments: 0..<17)
    func resume(attempts: Int) {
        let failure = IconRecord.Failure(code: .fetch(.timeout), message: "", attempts: attempts, nextAttempt: nil)
        let partials = PartialImages(urls: [Self.url])
        #expect(partials.mayResume(Self.url, after: failure) == ![7, 15].contains(attempts))
        #expect(!PartialImages().mayResume(Self.url, after: failure))
    }

    @Test("useless partial images are forgotten, and reported once")
    func forget() {
        var partials = PartialImages(urls: ["a", "b"])
        #expect(partials.forget { $0 == "a" } == ["a"])
        #expect(partials.forget { $0 == "a" } == nil && partials.urls == ["b"])
    }
}
