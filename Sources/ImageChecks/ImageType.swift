// SPDX-License-Identifier: Apache-2.0

package enum ImageType: String, Sendable, CaseIterable {
    case png
    case jpeg
    case gif
    case webp
    case bmp
    case ico
    case avif
    case heic
    case jxl
    case tiff
    case icns
    /// Scalable Vector Graphics; accepted only with ``ImageLimits/allowsSVG``.
    case svg

    /// The media type (RFC 6838): `image/png`.
    package var mediaType: String {
        switch self {
        case .ico: "image/vnd.microsoft.icon"
        case .svg: "image/svg+xml"
        default: "image/\(rawValue)"
        }
    }

    /// The name for people: `PNG`.
    package var name: String { self == .jxl ? "JPEG XL" : rawValue.uppercased() }

    package var suffix: String {
        switch self {
        case .jpeg: "jpg"
        default: rawValue
        }
    }
}
