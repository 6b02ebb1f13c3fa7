// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import ImageChecks

@Suite("The picture of an icon to render")
struct IconPictureTests {
    private typealias File = ImageFile

    @Test(
        "the picture of an icon to render is the smallest large enough one, or else the largest",
        arguments: [(1, 16), (16, 16), (17, 32), (32, 32), (33, 512), (600, 512)])
    func choice(pixels: Int, side: Int) throws {
        let file = File.ico([File.iconBitmap(32, 32), File.png(512, 300), File.iconBitmap(16, 16)])
        let best = try #require(try IconPicture.best(of: file.span.bytes, .ico, forPixels: pixels))
        #expect(best.side == side && best.form == (side == 512 ? .png : .bitmap))
        // A bitmap may be longer than its entry says.
        if best.form == .bitmap { #expect(best.bytes.upperBound == file.count) }
        #expect(Array(file[best.bytes].prefix(2)) == (best.form == .png ? [0x89, 0x50] : [40, 0]))
    }

    @Test("of pictures of one size, the one with the most colours is rendered, in whatever order they are")
    func depths() throws {
        let pictures = [
            File.iconBitmap(16, 16, depth: 4), File.iconBitmap(16, 16, depth: 32), File.iconBitmap(16, 16, depth: 8),
            File.png(16, 16, colourType: 2),
        ]
        for pixels in [8, 32] {
            for shift in pictures.indices {
                let file = File.ico(Array(pictures[shift...] + pictures[..<shift]))
                let best = try #require(try IconPicture.best(of: file.span.bytes, .ico, forPixels: pixels))
                #expect(best.depth == 32 && best.form == .bitmap)
            }
        }
    }

    @Test("a damaged icon throws, whatever is damaged", arguments: [4, 6, 14, 18, 22])
    func damage(offset: Int) {
        var file = File.ico([File.iconBitmap(32, 32)])
        file.replaceSubrange(offset..<offset + 2, with: [0xFF, 0xFF])
        let best = try? IconPicture.best(of: file.span.bytes, .ico, forPixels: 16)
        if let best { #expect(best.bytes.upperBound <= file.count) }
    }

    @Test("images that are no icon have no picture to render")
    func others() throws {
        let file = File.png(8, 8)
        #expect(try IconPicture.best(of: file.span.bytes, .png, forPixels: 8) == nil)
    }
}
