// SPDX-License-Identifier: Apache-2.0
import SyncPlan
import Testing

extension ImageInspector {
    /// The outcome as a value, to compare.
    func verdict(on bytes: [UInt8]) -> Result<ImageInfo, ImageRejection> {
        do {
            return .success(try inspect(bytes.span.bytes))
        } catch {
            return .failure(error)
        }
    }
}

@Suite("Image inspector")
struct ImageInspectorTests {
    private let inspector = ImageInspector()

    @Test("type and size are told", arguments: ImageSample.all)
    func recognise(sample: ImageSample) {
        #expect(inspector.verdict(on: sample.bytes) == .success(sample.info))
    }

    @Test("there is a sample of every type, by a tool and by hand")
    func coverage() {
        #expect(Set(ImageSample.written.map(\.info.type)) == Set(ImageType.allCases))
        #expect(Set(ImageSample.handmade.map(\.info.type)) == Set(ImageType.allCases))
    }

    @Test("what follows a complete header does not matter", arguments: ImageSample.all)
    func trailingBytes(sample: ImageSample) {
        let padding = ImageHeader.box("free", [UInt8](repeating: 0xAA, count: 100))
        #expect(inspector.verdict(on: sample.bytes + padding) == .success(sample.info))
    }

    @Test(
        "media types and suffixes are the usual ones",
        arguments: [
            (ImageType.png, "image/png", "png"), (.jpeg, "image/jpeg", "jpg"), (.gif, "image/gif", "gif"),
            (.webp, "image/webp", "webp"), (.bmp, "image/bmp", "bmp"), (.ico, "image/vnd.microsoft.icon", "ico"),
            (.avif, "image/avif", "avif"), (.heic, "image/heic", "heic"), (.tiff, "image/tiff", "tiff"),
            (.icns, "image/icns", "icns"),
        ])
    func names(type: ImageType, mediaType: String, suffix: String) {
        #expect(type.mediaType == mediaType)
        #expect(type.suffix == suffix)
    }

    @Test(
        "a picture may be as large as the limits, and no larger",
        arguments: [
            (4096, 4096, true), (4097, 1, false), (1, 4097, false), (4096, 1, true), (0x7FFF_FFFF, 0x7FFF_FFFF, false),
        ])
    func defaultLimits(width: Int, height: Int, fits: Bool) {
        let verdict = inspector.verdict(on: ImageHeader.png(width, height))
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
        let verdict = ImageInspector(limits: limits).verdict(on: ImageHeader.gif(width, height))
        #expect(((try? verdict.get()) != nil) == fits)
    }

    @Test("a picture that is cropped to a small one counts as what is decoded")
    func cropped() {
        let bytes = ImageHeader.media(
            ImageHeader.fileType("avif"), primary: ImageHeader.primary(1),
            properties: [ImageHeader.extent(5000, 64), ImageHeader.aperture((32, 1), (32, 1))],
            associations: ImageHeader.associations([(1, [1, 2])]))
        let rejection = ImageRejection.tooLarge(width: 5000, height: 64, limits: ImageLimits())
        #expect(inspector.verdict(on: bytes) == .failure(rejection))
    }

    @Test("a long side of an extended WebP cannot overflow anything")
    func extendedWebP() {
        let side = 1 << 24
        let rejection = ImageRejection.tooLarge(width: side, height: side, limits: ImageLimits())
        #expect(inspector.verdict(on: ImageHeader.extendedWebP(side, side)) == .failure(rejection))
    }
}
