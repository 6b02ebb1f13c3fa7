// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules
import ImageChecks
import Testing

@Suite("An image in a URL")
struct DataURLImageTests {
    @Test("an image in a URL is judged like any other, whatever its type is said to be, and for good")
    func image() throws {
        let inspector = ImageInspector()
        let gif = "data:image/png;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
        let image = try #require(DataURL(gif)).image(upTo: ByteCount(42), inspector)
        #expect(image.info.type == .gif && image.bytes.count == 42)
        // Its data cannot be cut off, so that it needs no trailer.
        let short = try #require(DataURL(gif.dropLast() + "=")).image(upTo: ByteCount(42), inspector)
        #expect(short.info.type == .gif && short.bytes.count == 41)
        for (text, limit, code) in [
            (gif, 41, "too-large"), ("data:,", 42, "not-an-image"), ("data:image/png,<html>", 42, "not-an-image"),
            (String(gif.dropLast(8)), 42, "image-truncated"), ("data:image/gif", 42, "bad-url"),
        ] {
            let url = try #require(DataURL(text))
            let failure = #expect(throws: FetchFailure.self) { try url.image(upTo: ByteCount(limit), inspector) }
            #expect(failure?.code.rawValue == code && failure?.persistence == .refused)
        }
    }
}
