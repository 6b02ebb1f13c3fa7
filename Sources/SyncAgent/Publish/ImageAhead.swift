// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import HTTPRules

/// An image to be written ahead of its publication.
package struct ImageAhead: Equatable, Sendable {
    package var staged: StagedImage
    /// The URL that gets a name in `by-url/`, unless it has one; `nil` if the URL shows another image at present.
    package var url: IconURL?
}

extension [ImageAhead] {
    /// Whether there are enough images for the next step: at least so many images, or so many bytes.
    func areMany(_ images: Int, bytes: Int) -> Bool {
        // By index, so that no element is copied.
        count >= images || indices.reduce(0) { $0 + self[$1].staged.image.bytes } >= bytes
    }
}
