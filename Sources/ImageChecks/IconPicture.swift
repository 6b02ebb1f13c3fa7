// SPDX-License-Identifier: Apache-2.0

/// A picture of an image that can have several: of ICO and ICNS.
package struct IconPicture: Equatable, Sendable {
    package enum Form: Sendable {
        case png
        /// A bitmap without its file header, in whose height the mask is counted.
        case bitmap
    }

    package var form: Form
    /// The range of its bytes in the image; a bitmap's may be longer than the bitmap.
    package var bytes: Range<Int>
    /// The length of the longer side, in pixels.
    package var side: Int
    /// The bits of a pixel.
    package var depth: Int

    /// The best picture to be drawn in this many pixels: the smallest that is large enough, or else the largest.
    ///
    /// Of pictures of one size, it is the first of those with the most colours.
    ///
    /// - Throws: ``ImageRejection`` if the image is damaged.
    /// - Returns: The picture; `nil` if the image has none of a known form.
    package static func best(
        of bytes: RawSpan, _ type: ImageType, forPixels pixels: Int
    ) throws(ImageRejection) -> IconPicture? {
        let all = try ImageRejection.of(type) { () throws(ImageFault) in
            switch type {
            case .ico: try ICO.pictures(of: bytes)
            case .icns: try ICNS.pictures(of: bytes)
            default: [IconPicture]()
            }
        }
        let large = all.filter { $0.side >= pixels }
        return large.min { ($0.side, $1.depth) < ($1.side, $0.depth) }
            ?? all.min { ($1.side, $1.depth) < ($0.side, $0.depth) }
    }
}
