// SPDX-License-Identifier: Apache-2.0
import ImageChecks
import Testing

extension ImageInspector {
    /// The outcome as a value, to compare.
    func verdict(
        on bytes: [UInt8], cutTo length: Int = .max, isComplete: Bool = false
    ) -> Result<ImageInfo, ImageRejection> {
        do {
            let first = bytes.span.bytes.extracting(first: min(length, bytes.count))
            return .success(try inspect(first, isComplete: isComplete))
        } catch {
            return .failure(error)
        }
    }
}

/// Expects damage that is named so, or where it has no name, that the image is cut.
func expectFault(
    _ type: ImageType, _ bytes: [UInt8], _ what: String?, sourceLocation: SourceLocation = #_sourceLocation
) {
    let rejection: ImageRejection = what.map { .damaged(type, what: $0) } ?? .truncated(type)
    let inspector = ImageInspector(limits: ImageLimits(allowsSVG: true))
    #expect(inspector.verdict(on: bytes) == .failure(rejection), sourceLocation: sourceLocation)
}

@Suite("Image inspector")
struct ImageInspectorTests {
    private typealias File = ImageFile

    private let inspector = ImageInspector(limits: ImageLimits(allowsSVG: true))

    @Test("the inspector finds the type and size of each sample", arguments: ImageSample.all)
    func recognise(sample: ImageSample) {
        #expect(inspector.verdict(on: sample.bytes) == .success(sample.info))
    }

    @Test("there is a sample of every type, by a tool and by hand")
    func coverage() {
        #expect(Set(ImageSample.written.map(\.info.type)) == Set(ImageType.allCases).subtracting([.svg]))
        #expect(Set(ImageSample.handmade.map(\.info.type)) == Set(ImageType.allCases))
    }

    @Test(
        "bytes after a complete image are accepted, as browsers accept them",
        arguments: ImageSample.all.filter { $0.info.type != .svg },
        [[0x0A], File.zeros(100), Array("<!-- served by a proxy -->".utf8)])
    func trailingBytes(sample: ImageSample, more: [UInt8]) {
        let isMedia = [.avif, .heic].contains(sample.info.type)
        // Where boxes may follow, what could be the beginning of one could be cut.
        let couldBeBox = isMedia && more.first != 0 && !sample.hasOpenEnd
        let expected: Result<ImageInfo, ImageRejection> =
            couldBeBox ? .failure(.truncated(sample.info.type)) : .success(sample.info)
        #expect(inspector.verdict(on: sample.bytes + more) == expected)
    }

    @Test(
        "media types and suffixes are the usual ones",
        arguments: [
            (ImageType.png, "image/png", "png"), (.jpeg, "image/jpeg", "jpg"), (.gif, "image/gif", "gif"),
            (.webp, "image/webp", "webp"), (.bmp, "image/bmp", "bmp"), (.ico, "image/vnd.microsoft.icon", "ico"),
            (.avif, "image/avif", "avif"), (.heic, "image/heic", "heic"), (.jxl, "image/jxl", "jxl"),
            (.tiff, "image/tiff", "tiff"), (.icns, "image/icns", "icns"), (.svg, "image/svg+xml", "svg"),
        ])
    func names(type: ImageType, mediaType: String, suffix: String) {
        #expect(type.mediaType == mediaType)
        #expect(type.suffix == suffix)
    }
}
