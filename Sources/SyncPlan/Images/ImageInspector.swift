// SPDX-License-Identifier: Apache-2.0

/// Tells an image's type by its first bytes, and its size by its header.
///
/// It never decodes pixels.
package struct ImageInspector: Sendable {
    private let limits: ImageLimits

    package init(limits: ImageLimits = ImageLimits()) {
        self.limits = limits
    }

    /// Inspects the bytes of a whole file, whatever they are.
    ///
    /// - Throws: ``ImageRejection``, if the bytes are no image, a damaged one, or a larger one than the limits allow.
    package func inspect(_ bytes: RawSpan) throws(ImageRejection) -> ImageInfo {
        guard let type = Self.type(of: bytes) else { throw .notAnImage(hint: Lookalike.name(for: bytes)) }
        let size, decoded: PixelSize
        do {
            size = try type.format.size(of: bytes)
            decoded = try type.format.decodedSize(of: bytes, showing: size)
        } catch {
            throw .damaged(type, what: error.what)
        }
        guard !size.isEmpty else { throw .damaged(type, what: "it has no pixels") }
        for size in [size, decoded] where !limits.allow(size) {
            throw .tooLarge(width: size.width, height: size.height, limits: limits)
        }
        return ImageInfo(type: type, width: size.width, height: size.height)
    }

    private static func type(of bytes: RawSpan) -> ImageType? {
        for type in ImageType.allCases where type.format.recognises(bytes) {
            return type
        }
        return nil
    }
}
