// SPDX-License-Identifier: Apache-2.0

/// Determines an image's type from its first bytes and its size from its header, and checks its structure to the end.
///
/// It never decodes pixels, so damaged compressed data in a valid structure is not detected. Truncation is detected as
/// far as the format allows. Bytes after a complete image are accepted, as in browsers: many icons have some.
///
/// - Complexity: O(*n*) in the number of bytes, whatever they contain.
package struct ImageInspector: Sendable {
    private let limits: ImageLimits

    package init(limits: ImageLimits = ImageLimits()) {
        self.limits = limits
    }

    /// Inspects the untrusted bytes of a whole file.
    ///
    /// `isComplete` tells that no bytes can be missing at the end, for example because a length was met. Only then may
    /// an image lack its end marker, because an image that was cut off in transfer can look the same.
    ///
    /// - Throws: ``ImageRejection`` if the bytes are not an image, or if the image is truncated, damaged, unsafe or
    ///   beyond the limits.
    package func inspect(_ bytes: RawSpan, isComplete: Bool = false) throws(ImageRejection) -> ImageInfo {
        guard let type = ImageType(recognisedIn: bytes, among: limits) else {
            let isSVG = ImageType(recognisedIn: bytes) == .svg
            throw .notAnImage(hint: isSVG ? "SVG, which takes images.allowSVG" : Lookalike.name(for: bytes))
        }
        let size = try ImageRejection.of(type, isComplete: isComplete) { () throws(ImageFault) in
            try type.format.size(of: bytes)
        }
        guard !size.isEmpty else { throw .damaged(type, what: "it has no pixels") }
        guard limits.allow(size) else { throw .tooLarge(width: size.width, height: size.height, limits: limits) }
        let content = try ImageRejection.of(type, isComplete: isComplete) { () throws(ImageFault) in
            do throws(ImageFault) {
                return try type.format.content(of: bytes, showing: size)
            } catch {
                guard isComplete, case .endMissing(let content) = error else { throw error }
                return content
            }
        }
        for picture in [content.largest, content.longest] where !picture.isEmpty && !limits.allow(picture) {
            throw .tooLarge(width: picture.width, height: picture.height, limits: limits)
        }
        guard content.layerPixels <= limits.maxLayerPixels(on: size) else {
            throw .tooManyLayers(type, pixels: content.layerPixels, limit: limits.maxLayerPixels(on: size))
        }
        guard content.frames <= limits.maxFrames else {
            throw .tooManyFrames(type, count: content.frames, limits: limits)
        }
        return ImageInfo(type: type, width: size.width, height: size.height)
    }
}

extension ImageType {
    /// Recognises an image that was inspected before it was published, by its first bytes only.
    package init?(recognisedIn bytes: RawSpan) {
        self.init(recognisedIn: bytes, among: ImageLimits(allowsSVG: true))
    }

    fileprivate init?(recognisedIn bytes: RawSpan, among limits: ImageLimits) {
        for type in ImageType.allCases where type != .svg || limits.allowsSVG {
            guard type.format.recognises(bytes) else { continue }
            self = type
            return
        }
        return nil
    }
}
