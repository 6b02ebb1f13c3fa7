// SPDX-License-Identifier: Apache-2.0

/// One image format: how it is told from others, and how its structure is read.
///
/// The bytes come from anywhere. A format reads them only through the checked reads of `RawSpan`, and compares a number
/// with the length of the data before it calculates with it, so that no bytes whatever can make it trap. It looks at no
/// byte more than a few times: where a file can refer to the same bytes again and again, the format counts what it reads.
protocol ImageFormat {
    /// Whether the data begins like this format.
    static func recognises(_ bytes: RawSpan) -> Bool

    /// The size that the header of recognised data gives; a side of 0 is for the caller to judge.
    static func size(of bytes: RawSpan) throws(ImageFault) -> PixelSize

    /// Follows the structure to its end, given what ``size(of:)`` found, which is not empty.
    static func content(of bytes: RawSpan, showing size: PixelSize) throws(ImageFault) -> ImageContent
}

/// What an image holds, besides the picture that it shows first.
struct ImageContent: Equatable {
    /// How many pictures it shows one after the other; pages, if it is a document.
    var frames = 1
    /// The size of the largest picture that a reader may have to decode.
    var largest: PixelSize
}

/// The sides of a picture, in pixels.
struct PixelSize: Equatable {
    var width: Int
    var height: Int

    var isEmpty: Bool { width == 0 || height == 0 }

    /// The one of the two that has more pixels.
    func orLarger(_ other: PixelSize?) -> PixelSize {
        guard let other else { return self }
        return width.multipliedFullWidth(by: height) < other.width.multipliedFullWidth(by: other.height) ? other : self
    }

    /// Whether a picture of this size fits into another at a place; no number is larger than a file can hold.
    func fits(at place: (x: Int, y: Int), in other: PixelSize) -> Bool {
        width <= other.width && place.x <= other.width - width && height <= other.height
            && place.y <= other.height - height
    }
}

/// What is wrong with the data of a recognised format.
enum ImageFault: Error, Equatable {
    /// The data is shorter than it says.
    case truncated
    /// Something makes no sense; the text says what.
    case malformed(String)
    /// Something makes sense, and is not to be shown; the text says what.
    case forbidden(String)

    /// The fault of a whole file, if this is the fault of a picture within it: the file itself was not cut.
    var ofPart: ImageFault {
        self == .truncated ? .malformed("a picture in it ends too early") : self
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
        case .tiff: TIFF.self
        case .icns: ICNS.self
        case .svg: SVG.self
        }
    }
}
