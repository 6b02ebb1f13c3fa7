// SPDX-License-Identifier: Apache-2.0

/// An image format: recognises it and checks its structure.
///
/// The bytes are untrusted. A format reads them only through the checked reads of `RawSpan`, and compares a number with
/// the length of the data before calculating with it, so that no bytes can make it trap. It reads each byte only a few
/// times: where a file can refer to the same bytes repeatedly, the format limits what it reads.
protocol ImageFormat {
    static func recognises(_ bytes: RawSpan) -> Bool

    /// The size in the header of recognised data; the caller rejects empty ones.
    static func size(of bytes: RawSpan) throws(ImageFault) -> PixelSize

    /// Checks the whole structure; `size` is the non-empty result of ``size(of:)``.
    static func content(of bytes: RawSpan, showing size: PixelSize) throws(ImageFault) -> ImageContent
}

/// The content of an image besides the picture shown first.
struct ImageContent: Equatable {
    /// Frames of an animation, or pages of a document.
    var frames = 1
    /// The picture with the most pixels that a reader may decode.
    private(set) var largest: PixelSize
    /// The picture with the longest side that a reader may decode.
    private(set) var longest: PixelSize
    /// The pixels of all layers that a reader decodes for the picture shown first; 0 if it has none.
    private(set) var layerPixels = 0

    init(frames: Int = 1, largest: PixelSize) {
        self.frames = frames
        self.largest = largest
        longest = largest
    }

    mutating func add(picture: PixelSize) {
        largest = picture.orLarger(largest)
        longest = picture.orLonger(longest)
    }

    mutating func add(layer: PixelSize) {
        layerPixels = min(PixelSize.mostPixels, layerPixels + layer.pixels)
    }
}

struct PixelSize: Equatable {
    var width: Int
    var height: Int

    /// The most pixels that are counted, so that some of these numbers can be added without overflow.
    static let mostPixels = 1 << 55

    /// The number of pixels, or a number that is too high for any limit.
    var pixels: Int {
        let (product, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? Self.mostPixels : min(product, Self.mostPixels)
    }

    var isEmpty: Bool { width == 0 || height == 0 }

    func orLarger(_ other: PixelSize?) -> PixelSize {
        guard let other else { return self }
        return width.multipliedFullWidth(by: height) < other.width.multipliedFullWidth(by: other.height) ? other : self
    }

    func orLonger(_ other: PixelSize) -> PixelSize {
        max(width, height) < max(other.width, other.height) ? other : self
    }

    /// Whether this size fits into another at a position; no number is larger than a file can hold.
    func fits(at place: (x: Int, y: Int), in other: PixelSize) -> Bool {
        width <= other.width && place.x <= other.width - width && height <= other.height
            && place.y <= other.height - height
    }
}

enum ImageFault: Error, Equatable {
    case truncated
    /// All picture data is there, but the mark after it is missing: the file is whole if no bytes were lost on the way.
    case endMissing(ImageContent)
    /// Invalid; the text is a clause.
    case malformed(String)
    /// Valid, but unsafe to show; the text is a clause.
    case forbidden(String)

    /// Checks a picture in the file: if it is truncated, the file itself is not.
    static func ofPart<R>(_ check: () throws(ImageFault) -> R) throws(ImageFault) -> R {
        do {
            return try check()
        } catch {
            switch error {
            case .truncated, .endMissing: throw .malformed("a picture in it ends too early")
            case .malformed, .forbidden: throw error
            }
        }
    }
}

extension ImageType {
    var format: any ImageFormat.Type {
        switch self {
        case .png: PNG.self
        case .jpeg: JPEG.self
        case .gif: GIF.self
        case .webp: WebP.self
        case .bmp: BMP.self
        case .ico: ICO.self
        case .avif: AVIF.self
        case .heic: HEIC.self
        case .jxl: JPEGXL.self
        case .tiff: TIFF.self
        case .icns: ICNS.self
        case .svg: SVG.self
        }
    }
}
