// SPDX-License-Identifier: Apache-2.0

/// Tells an image's type by its first bytes and its size by its header, and follows its structure to its end.
///
/// It never decodes pixels, so compressed data that is wrong within a sound structure goes unseen. What it does see is an
/// image that was cut anywhere, as far as the format can tell. Bytes after the end of a complete image are accepted, as
/// browsers accept them: many icons have some.
///
/// The time it takes grows with the number of bytes alone, whatever they say.
package struct ImageInspector: Sendable {
    private let limits: ImageLimits

    package init(limits: ImageLimits = ImageLimits()) {
        self.limits = limits
    }

    /// Inspects the bytes of a whole file, whatever they are.
    ///
    /// - Throws: ``ImageRejection``, if the bytes are no image, a cut, damaged or unsafe one, or a larger one than the
    ///   limits allow.
    package func inspect(_ bytes: RawSpan) throws(ImageRejection) -> ImageInfo {
        guard let type = type(of: bytes) else { throw .notAnImage(hint: Lookalike.name(for: bytes)) }
        let size: PixelSize
        do {
            size = try type.format.size(of: bytes)
        } catch {
            throw ImageRejection(error, in: type)
        }
        guard !size.isEmpty else { throw .damaged(type, what: "it has no pixels") }
        guard limits.allow(size) else { throw .tooLarge(width: size.width, height: size.height, limits: limits) }
        try check(bytes, type, size)
        return ImageInfo(type: type, width: size.width, height: size.height)
    }

    private func check(_ bytes: RawSpan, _ type: ImageType, _ size: PixelSize) throws(ImageRejection) {
        let content: ImageContent
        do {
            content = try type.format.content(of: bytes, showing: size)
        } catch {
            throw ImageRejection(error, in: type)
        }
        let largest = content.largest
        guard largest.isEmpty || limits.allow(largest) else {
            throw .tooLarge(width: largest.width, height: largest.height, limits: limits)
        }
        guard content.frames <= limits.maxFrames else {
            throw .tooManyFrames(type, count: content.frames, limits: limits)
        }
    }

    private func type(of bytes: RawSpan) -> ImageType? {
        for type in ImageType.allCases where type != .svg || limits.allowsSVG {
            if type.format.recognises(bytes) { return type }
        }
        return nil
    }
}
