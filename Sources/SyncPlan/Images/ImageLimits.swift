// SPDX-License-Identifier: Apache-2.0

/// How large an image may be.
///
/// A small file can hold a picture that takes gigabytes once it is decoded; whoever reads the cache is spared that.
package struct ImageLimits: Equatable, Sendable {
    /// The longest side accepted, in pixels; 4096 by default.
    package var maxSide: Int
    /// The most pixels accepted; 16 Mpx by default, which is 16 × 1024 × 1024.
    package var maxPixels: Int

    package init(maxSide: Int = 4096, maxPixels: Int = 16 * 1024 * 1024) {
        self.maxSide = maxSide
        self.maxPixels = maxPixels
    }

    /// Whether a picture that has pixels is within the limits.
    func allow(_ size: PixelSize) -> Bool {
        size.width <= maxSide && size.height <= maxSide && size.height <= maxPixels / size.width
    }
}
