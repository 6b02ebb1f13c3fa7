// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@testable import SyncPlan

@Suite("The table of images")
struct ImageTableTests {
    private static func image(
        _ word: String, path: String? = nil, bytes: Int = 1, type: String = "image/png", width: Int = 2, height: Int = 3
    ) -> AppListDocument.Image {
        let digest = Digest.of(word)
        return AppListDocument.Image(
            path: path ?? CacheLayout.image(digest, suffix: "png"), sha256: digest, bytes: bytes, type: type,
            width: width, height: height)
    }

    @Test("an image is what it was, however unusual")
    func unusual() {
        var images = ImageTable()
        let all =
            [
                Self.image("usual"), Self.image("path", path: "elsewhere/a.png"), Self.image("bytes", bytes: .max),
                Self.image("width", width: .max), Self.image("height", height: 1 << 32),
                Self.image("type", type: "image/e\u{301}"), Self.image("spelling", type: "image/é"),
            ] + (0..<100).map { Self.image("\($0)", type: "image/\($0)") }
        let ids = all.map { images.id(of: $0) }
        for (id, image) in zip(ids, all) {
            #expect(images.image(id) == image && images.bytes(id) == image.bytes && images.id(of: image.sha256) == id)
            #expect(images.image(id).type.utf8.elementsEqual(image.type.utf8))
        }
    }

    @Test("an image on disk keeps its description, and a damaged one that is downloaded again gets another")
    func descriptions() {
        var images = ImageTable()
        let (described, found) = (Self.image("a", bytes: 7), Self.image("a", bytes: 8))
        let id = images.id(of: described)
        images.name(id)
        #expect(images.id(of: found) == id && images.id(ofStaged: found) == id && images.image(id) == described)
        images.record([found.sha256], areWhole: false)
        #expect(images.holdings == (0, 0))
        #expect(images.id(of: found) == id && images.image(id) == described)
        #expect(images.id(ofStaged: found) == id && images.image(id) == found)
        images.record([found.sha256], areWhole: true)
        #expect(images.holdings == (1, 8))
    }

    @Test("a number is free at the end of a turn after which nothing has it and no file is left")
    func forgetting() {
        var images = ImageTable()
        let (a, b) = (images.id(of: Self.image("a")), images.id(of: Self.image("b")))
        images.hold(a)
        images.forgetUnused()
        #expect(images.ids == [a])
        images.name(a)
        images.release(a)
        images.forgetNaming(of: a)
        images.forgetUnused()
        #expect(images.ids == [a] && images.unnamed == [a])
        images.evict(.of("a"))
        #expect(images.id(of: Self.image("c")) == b && images.ids == [a, b])
        images.show(a)
        images.hide(a)
        images.forgetUnused()
        #expect(images.ids.isEmpty && images.unnamed.isEmpty && images.holdings == (0, 0))
    }
}
