// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
package import CacheFormat
package import Fleet
package import HTTPRules
package import Reports

/// Images to render; an order without images only asks which renderer there is.
package struct RenderOrder: Equatable, Sendable {
    package struct Item: Equatable, Sendable {
        package var image: AppListDocument.Image
        /// The sizes in pixels, in ascending order.
        package var pixels: [Int]
        /// The renditions that an upstream has of the image, by size in pixels.
        package var copies: [Int: UpstreamRequest]

        package init(_ image: AppListDocument.Image, pixels: [Int], copies: [Int: UpstreamRequest] = [:]) {
            (self.image, self.pixels, self.copies) = (image, pixels, copies)
        }
    }

    package var items: [Item] = []
    /// Whether images whose renditions no upstream has are rendered.
    package var mayRender = true
    package var fit = Settings.Render.Fit.contain
    package var enlarges = false
    /// The limit on an image's pixels.
    package var maxPixels: Int

    package init(maxPixels: Int) { self.maxPixels = maxPixels }
}

/// The result of an order; images without a result were not tried.
package struct RenderReport: Sendable {
    package enum Result: Equatable, Sendable {
        /// The renditions, by size in pixels.
        case rendered([Int: StagedImage])
        case failed(RenderFailure)
        /// The image's file is missing or damaged.
        case damaged
    }

    /// The version of the renderer, on which the bytes of renditions depend; `nil` if it did not start.
    package var version: Int?
    /// The number of renderer programs, each for formats of its own; `nil` if none was started.
    package var programs: Int?
    package var results: [Digest: Result] = [:]
    /// The copies that upstreams did not have, by original and size in pixels.
    package var missed: [Digest: Set<Int>] = [:]
    /// Why the order could not be completed, as a clause; `nil` if nothing is wrong.
    package var trouble: String?

    package init(version: Int? = nil) { self.version = version }
}
