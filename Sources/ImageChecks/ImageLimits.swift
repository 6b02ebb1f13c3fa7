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

    /// The most pixels of the layers of a picture: eight times its own, or those of the largest picture.
    ///
    /// So many small layers are as good as one large picture.
    func maxLayerPixels(on canvas: PixelSize) -> Int {
        max(8 * canvas.pixels, maxPixels)
    }

    func allow(_ size: PixelSize) -> Bool {
        size.width <= maxSide && size.height <= maxSide && size.height <= maxPixels / size.width
    }
}
