// SPDX-License-Identifier: Apache-2.0

/// The limits on images, and whether SVG is accepted.
///
/// They protect the cache's readers: a small file can contain a picture that takes gigabytes when decoded.
package struct ImageLimits: Equatable, Sendable {
    /// The longest side, in pixels; 4096 by default.
    package var maxSide: Int
    /// The most pixels; 16 × 1024 × 1024 by default.
    package var maxPixels: Int
    /// The most frames of an animation or pages of a TIFF; 1024 by default.
    package var maxFrames: Int
    package var allowsSVG: Bool

    package init(
        maxSide: Int = 4096, maxPixels: Int = 16 * 1024 * 1024, maxFrames: Int = 1024, allowsSVG: Bool = false
    ) {
        self.maxSide = maxSide
        self.maxPixels = maxPixels
        self.maxFrames = maxFrames
        self.allowsSVG = allowsSVG
    }

    func allow(_ size: PixelSize) -> Bool {
        size.width <= maxSide && size.height <= maxSide && size.height <= maxPixels / size.width
    }
}
