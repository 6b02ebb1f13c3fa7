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
        /// In ascending order.
        package var pixels: [Int]
        /// What an upstream has of it, by size in pixels.
        package var copies: [Int: UpstreamRequest]

        package init(_ image: AppListDocument.Image, pixels: [Int], copies: [Int: UpstreamRequest] = [:]) {
            (self.image, self.pixels, self.copies) = (image, pixels, copies)
        }
    }

    package var items: [Item] = []
    /// Whether images are rendered that cannot be taken over.
    package var mayRender = true
    package var fit = Settings.Render.Fit.contain
    package var enlarges = false
    /// The most pixels of an image.
    package var maxPixels: Int

    package init(maxPixels: Int) { self.maxPixels = maxPixels }
}

/// How an order ended; images that it does not tell of were not tried.
package struct RenderReport: Sendable {
    package enum Result: Equatable, Sendable {
        /// By size in pixels.
        case rendered([Int: StagedImage])
        case failed(RenderFailure)
        /// The image's file is missing or damaged.
        case damaged
    }

    /// The version of the renderer: another one may give other bytes; `nil` if it did not start.
    package var version: Int?
    /// How many programs there are; each reads formats that the others do not; `nil` if none was started.
    package var programs: Int?
    package var results: [Digest: Result] = [:]
    /// The copies that could not be taken over, by original and size in pixels.
    package var missed: [Digest: Set<Int>] = [:]
    /// Why it could not do more, as a clause; `nil` if nothing is wrong.
    package var trouble: String?

    package init(version: Int? = nil) { self.version = version }
}
