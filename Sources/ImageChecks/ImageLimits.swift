// SPDX-License-Identifier: Apache-2.0

/// The limits on images, and whether SVG is accepted.
///
/// A small file can contain a picture that takes gigabytes when it is decoded; the limits protect the readers of the
/// cache.
package struct ImageLimits: Equatable, Sendable {
    /// The longest side accepted, in pixels; 4096 by default.
    package var maxSide: Int
    /// The most pixels accepted; 16 × 1024 × 1024 by default.
    package var maxPixels: Int
    /// The most frames of an animation, or pages of a TIFF, accepted; 1024 by default.
    package var maxFrames: Int
    /// Whether SVG is accepted; false by default.
    package var allowsSVG: Bool

    package init(
        maxSide: Int = 4096, maxPixels: Int = 16 * 1024 * 1024, maxFrames: Int = 1024, allowsSVG: Bool = false
    ) {
        self.maxSide = maxSide
        self.maxPixels = maxPixels
        self.maxFrames = maxFrames
        self.allowsSVG = allowsSVG
    }

    /// Whether a picture is within the limits; it must have pixels.
    func allow(_ size: PixelSize) -> Bool {
        size.width <= maxSide && size.height <= maxSide && size.height <= maxPixels / size.width
    }
}
