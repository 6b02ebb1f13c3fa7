// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import ImageChecks

@Suite("Image limits")
struct ImageLimitsTests {
    private typealias File = ImageFile

    private let inspector = ImageInspector()

    @Test(
        "a picture may be as large as the limits, and no larger",
        arguments: [
            (4096, 4096, true), (4097, 1, false), (1, 4097, false), (4096, 1, true), (0x7FFF_FFFF, 0x7FFF_FFFF, false),
        ])
    func defaultLimits(width: Int, height: Int, fits: Bool) {
        let verdict = inspector.verdict(on: File.png(width, height))
        if fits {
            #expect(verdict == .success(ImageInfo(type: .png, width: width, height: height)))
        } else {
            #expect(verdict == .failure(.tooLarge(width: width, height: height, limits: ImageLimits())))
        }
    }

    @Test(
        "sides and pixels have limits of their own",
        arguments: [(10, 10, true), (20, 5, true), (101, 1, false), (11, 10, false)])
    func ownLimits(width: Int, height: Int, fits: Bool) throws {
        let limits = ImageLimits(maxSide: 100, maxPixels: 100)
        let verdict = ImageInspector(limits: limits).verdict(on: File.gif(width, height))
        #expect(((try? verdict.get()) != nil) == fits)
    }

    @Test(
        "a picture that shows a small part counts as what is decoded",
        arguments: [
            File.media(
                File.fileType("avif"), primary: File.primary(1),
                properties: [File.extent(5000, 64), File.aperture((32, 1), (32, 1))],
                associations: File.associations([(1, [1, 2])])),
            File.gif(32, 32, blocks: File.gifFrame(5000, 64)),
            File.gif(1000, 1000, blocks: File.gifFrame(5000, 64)),
            File.ico([File.iconBitmap(5000, 64), File.png(1000, 1000)]),
            File.icns([("ic07", File.jp2(5000, 64)), ("ic10", File.png(1000, 1000))]),
            File.jxl(32, 32, frames: [File.JXLFrame(sections: Array(repeating: 0, count: 25), area: (0, 0, 5000, 64))]),
            File.bmp(
                File.bitmap(7, 9, depth: 0, compression: 5, pixelLength: File.png(5000, 64).count), File.png(5000, 64)),
        ])
    func hidden(bytes: [UInt8]) {
        let rejection = ImageRejection.tooLarge(width: 5000, height: 64, limits: ImageLimits())
        #expect(inspector.verdict(on: bytes) == .failure(rejection))
    }

    @Test("a long side of an extended WebP cannot overflow anything")
    func extendedWebP() {
        let side = 1 << 24
        let rejection = ImageRejection.tooLarge(width: side, height: side, limits: ImageLimits())
        #expect(inspector.verdict(on: File.webp(File.extended(side, side))) == .failure(rejection))
    }

    @Test(
        "frames and pages are counted, and have a limit",
        arguments: [
            (.png, File.animatedPNG(5)),
            (.gif, File.gif(1, 1, blocks: (0..<5).flatMap { _ in File.gifFrame(1, 1) })),
            (.webp, File.animatedWebP(5)), (.tiff, File.tiff(pages: 5)),
            (
                .avif,
                File.media(File.fileType("avis"), properties: [File.extent(4, 3)], more: File.track(frames: 5))
            ),
            (
                .jxl,
                File.jxl(
                    4, 3, isAnimated: true,
                    frames: Array(repeating: File.JXLFrame(isLast: false), count: 4) + [File.JXLFrame()])
            ),
            (
                .jxl,
                File.jxl(4, 3, frames: Array(repeating: File.JXLFrame(isHidden: true), count: 4) + [File.JXLFrame()])
            ),
        ] as [(ImageType, [UInt8])])
    func frames(type: ImageType, bytes: [UInt8]) throws {
        let limits = ImageLimits(maxFrames: 4)
        let rejection = ImageRejection.tooManyFrames(type, count: 5, limits: limits)
        #expect(ImageInspector(limits: limits).verdict(on: bytes) == .failure(rejection))
        let info = try ImageInspector(limits: ImageLimits(maxFrames: 5)).verdict(on: bytes).get()
        #expect(info.type == type)
    }

    @Test(
        "the layers of the first picture have a limit, shown or not",
        arguments: [
            (10, false, false, 7, nil), (10, false, false, 8, 900),
            (10, true, false, 7, nil), (10, true, false, 8, 900),
            // Each is a picture.
            (10, false, true, 8, nil),
            // No more than the pixels of the largest picture.
            (1, false, false, 99, nil), (1, true, false, 100, 101),
        ] as [(Int, Bool, Bool, Int, Int?)])
    func layers(side: Int, areHidden: Bool, isAnimated: Bool, count: Int, pixels: Int?) {
        let limits = ImageLimits(maxPixels: 100)
        let layer = File.JXLFrame(isHidden: areHidden, isLast: false)
        let bytes = File.jxl(
            side, side, isAnimated: isAnimated, frames: Array(repeating: layer, count: count) + [File.JXLFrame()])
        let verdict = ImageInspector(limits: limits).verdict(on: bytes)
        if let pixels {
            let rejection = ImageRejection.tooManyLayers(.jxl, pixels: pixels, limit: side == 1 ? 100 : 800)
            #expect(verdict == .failure(rejection))
        } else {
            #expect(verdict == .success(ImageInfo(type: .jxl, width: side, height: side)))
        }
    }

    @Test("the default limit of frames is 1024")
    func defaultFrames() {
        #expect(ImageLimits().maxFrames == 1024)
    }
}
