// SPDX-License-Identifier: Apache-2.0

/// One image format: how it is told from others, and how its header is read.
///
/// The bytes come from anywhere. A format reads them only through the checked reads of `RawSpan`, and compares a number
/// with the length of the data before it calculates with it, so that no bytes whatever can make it trap.
protocol ImageFormat {
    /// Whether the data begins like this format.
    static func recognises(_ bytes: RawSpan) -> Bool

    /// The size that the header of recognised data gives; a side of 0 is for the caller to judge.
    static func size(of bytes: RawSpan) throws(ImageFault) -> PixelSize

    /// The size of the largest picture that a reader may have to decode to show one of that size.
    static func decodedSize(of bytes: RawSpan, showing size: PixelSize) throws(ImageFault) -> PixelSize
}

extension ImageFormat {
    /// Formats that do not crop decode what they show.
    static func decodedSize(of bytes: RawSpan, showing size: PixelSize) throws(ImageFault) -> PixelSize {
        size
    }
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
}

/// What is wrong with the data of a recognised format.
enum ImageFault: Error {
    /// The data is shorter than it says.
    case truncated
    /// Something makes no sense; the text says what.
    case malformed(String)

    var what: String {
        switch self {
        case .truncated: "it ends too early"
        case .malformed(let what): what
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
        case .tiff: TIFF.self
        case .icns: ICNS.self
        }
    }
}
