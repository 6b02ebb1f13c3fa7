// SPDX-License-Identifier: Apache-2.0

/// How large an image may be, and whether drawings are accepted.
///
/// A small file can hold a picture that takes gigabytes once it is decoded; whoever reads the cache is spared that.
package struct ImageLimits: Equatable, Sendable {
    /// The longest side accepted, in pixels; 4096 by default.
    package var maxSide: Int
    /// The most pixels accepted; 16 Mpx by default, which is 16 × 1024 × 1024.
    package var maxPixels: Int
    /// The most frames of an animation, or pages of a TIFF, that are accepted; 1024 by default.
    package var maxFrames: Int
    /// Whether SVG is accepted; no by default.
    package var allowsSVG: Bool

    package init(
        maxSide: Int = 4096, maxPixels: Int = 16 * 1024 * 1024, maxFrames: Int = 1024, allowsSVG: Bool = false
    ) {
        self.maxSide = maxSide
        self.maxPixels = maxPixels
        self.maxFrames = maxFrames
        self.allowsSVG = allowsSVG
    }

    /// Whether a picture that has pixels is within the limits.
    func allow(_ size: PixelSize) -> Bool {
        size.width <= maxSide && size.height <= maxSide && size.height <= maxPixels / size.width
    }
}
