// SPDX-License-Identifier: Apache-2.0

/// An image format: how to recognise it, and how to check its structure.
///
/// The bytes are untrusted. A format reads them only through the checked reads of `RawSpan`, and compares a number with
/// the length of the data before it calculates with it, so that no bytes can make it trap. It reads no byte more than a
/// few times: if a file can refer to the same bytes repeatedly, the format limits what it reads.
protocol ImageFormat {
    /// Whether the data begins like this format.
    static func recognises(_ bytes: RawSpan) -> Bool

    /// The size in the header of recognised data; the caller rejects a side of 0.
    static func size(of bytes: RawSpan) throws(ImageFault) -> PixelSize

    /// Checks the structure to its end.
    ///
    /// - Parameters:
    ///   - bytes: The whole data.
    ///   - size: The result of ``size(of:)``, which is not empty.
    /// - Returns: What the image contains.
    /// - Throws: ``ImageFault``
    static func content(of bytes: RawSpan, showing size: PixelSize) throws(ImageFault) -> ImageContent
}

/// What an image contains, besides the picture shown first.
struct ImageContent: Equatable {
    /// The number of frames of an animation, or of pages of a document.
    var frames = 1
    /// The size of the largest picture that a reader may decode.
    var largest: PixelSize
}

/// The sides of a picture, in pixels.
struct PixelSize: Equatable {
    var width: Int
    var height: Int

    var isEmpty: Bool { width == 0 || height == 0 }

    /// The size with more pixels.
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

/// A fault in the data of a recognised format.
enum ImageFault: Error, Equatable {
    /// The data ends too early.
    case truncated
    /// Something is invalid; the text says what.
    case malformed(String)
    /// Something is valid, but unsafe to show; the text says what.
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
