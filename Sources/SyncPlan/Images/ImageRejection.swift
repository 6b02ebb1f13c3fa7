// SPDX-License-Identifier: Apache-2.0

/// Why bytes are not accepted as an image.
package enum ImageRejection: Error, Equatable, Sendable {
    /// The bytes are of no accepted type. The hint says what they look like, where that can be told: `HTML`, `JSON`.
    case notAnImage(hint: String?)
    /// The bytes begin like an image of this type, and then something is missing or makes no sense.
    case damaged(ImageType, what: String)
    /// The picture has more pixels than the limits allow.
    case tooLarge(width: Int, height: Int, limits: ImageLimits)

    /// A stable word for scripts.
    package var code: String {
        switch self {
        case .notAnImage: "not-an-image"
        case .damaged: "image-damaged"
        case .tooLarge: "image-too-large"
        }
    }
}

extension ImageRejection: CustomStringConvertible {
    /// A sentence without its full stop; nothing in it comes from the bytes but numbers.
    package var description: String {
        switch self {
        case .notAnImage(nil):
            "the data is not an image of an accepted type"
        case .notAnImage(let hint?):
            "the data is not an image of an accepted type: it looks like \(hint)"
        case .damaged(let type, let what):
            "the \(type.rawValue.uppercased()) image is damaged: \(what)"
        case .tooLarge(let width, let height, let limits) where max(width, height) > limits.maxSide:
            "the image has \(width) × \(height) pixels: a side is longer than images.maxSide (\(limits.maxSide))"
        case .tooLarge(let width, let height, let limits):
            "the image has \(width) × \(height) pixels: more than images.maxPixels (\(limits.maxPixels))"
        }
    }
}
