// SPDX-License-Identifier: Apache-2.0
import CacheFormat

@testable import HTTPRules

/// Values that stand for real ones.
enum Sample {
    /// A moment on which the times of a test build.
    static let start = Timestamp(sinceEpoch: .seconds(1_800_000_000))

    /// An answer that tags the image, and says that it is fresh for a day.
    static func response(
        etag: String, at time: Timestamp = start, from url: String = "https://cdn.example/icon.png"
    ) -> StoredResponse {
        StoredResponse(
            url: url,
            fields: HTTPFields([("ETag", etag), ("Cache-Control", "max-age=86400")]), requestTime: time,
            responseTime: time)
    }

    /// The beginning of an image, whose first answer came at ``start`` or then.
    static func partial(
        of url: IconURL = "https://a.example/1.png", bytes: Int = 100_000, length: Int? = 200_000,
        at time: Timestamp = start
    ) -> PartialDownload? {
        var partial = PartialDownload(
            url: url, target: url.text, response: response(etag: "\"1\"", at: time, from: url.text), length: length)
        partial?.bytes = bytes
        return partial
    }
}
