// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import HTTPRules

/// An image to be written ahead of its publication.
package struct ImageAhead: Equatable, Sendable {
    package var staged: StagedImage
    /// The URL that gets a name in `by-url/`, unless it has one; `nil` if it shows another image at present.
    package var url: IconURL?
}

/// Images that are gathered until they are worth the next step.
struct ImageBatch {
    private let most: (images: Int, bytes: Int)
    private var images: [ImageAhead] = []
    private var bytes = 0

    /// Creates an empty batch, which is full with this many images or bytes.
    init(images: Int, bytes: Int) { most = (images, bytes) }

    var isFull: Bool { images.count >= most.images || bytes >= most.bytes }

    mutating func add(_ image: ImageAhead) {
        images.append(image)
        bytes += image.staged.image.bytes
    }

    /// Removes images by the names of their staged files.
    mutating func removeAll(where isDone: (String) -> Bool) {
        images.removeAll { isDone($0.staged.name) }
        bytes = images.reduce(0) { $0 + $1.staged.image.bytes }
    }

    /// Removes and returns all images.
    mutating func drain() -> [ImageAhead] {
        defer { (images, bytes) = ([], 0) }
        return images
    }
}
