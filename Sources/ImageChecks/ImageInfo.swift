// SPDX-License-Identifier: Apache-2.0

/// The type and the size of an image.
package struct ImageInfo: Equatable, Sendable {
    package var type: ImageType
    /// The width in pixels, at least 1.
    package var width: Int
    /// The height in pixels, at least 1.
    package var height: Int

    package init(type: ImageType, width: Int, height: Int) {
        self.type = type
        self.width = width
        self.height = height
    }
}
