// SPDX-License-Identifier: Apache-2.0

package enum ImageRejection: Error, Equatable, Sendable {
    /// A stable code for scripts.
    package enum Code: String, CaseIterable, Sendable {
        case damaged = "image-damaged"
        case notAnImage = "not-an-image"
        case tooLarge = "image-too-large"
        case truncated = "image-truncated"
        case unsafe = "image-unsafe"
    }

    /// The data is of no accepted type; the hint names what it looks like, if known: `HTML`, `JSON`.
    case notAnImage(hint: String?)
    /// The data ends before the image does; a wrong length within the image can look the same.
    case truncated(ImageType)
    /// The image ends too early although all of its data arrived: its source is truncated.
    case truncatedAtSource(ImageType)
    /// A part of the image is missing or invalid; `what` is a clause.
    case damaged(ImageType, what: String)
    case tooLarge(width: Int, height: Int, limits: ImageLimits)
    case tooManyFrames(ImageType, count: Int, limits: ImageLimits)
    /// The layers of a picture, shown or not, have far more pixels than it has.
    case tooManyLayers(ImageType, pixels: Int, limit: Int)
    /// Showing the image could run code or send a request.
    case unsafe(ImageType, what: String)

    /// The end of the description of ``truncatedAtSource(_:)``, which no other description has.
    package static let atSource = "at its source"

    package var code: Code {
        switch self {
        case .notAnImage: .notAnImage
        case .truncated, .truncatedAtSource: .truncated
        case .damaged: .damaged
        case .tooLarge, .tooManyFrames, .tooManyLayers: .tooLarge
        case .unsafe: .unsafe
        }
    }

    /// Checks an image of this type; `isComplete` tells that no bytes can be missing at its end.
    static func of<R>(
        _ type: ImageType, isComplete: Bool = false, _ check: () throws(ImageFault) -> R
    ) throws(ImageRejection) -> R {
        do {
            return try check()
        } catch {
            switch error {
            case .truncated, .endMissing: throw isComplete ? .truncatedAtSource(type) : .truncated(type)
            case .malformed(let what): throw .damaged(type, what: what)
            case .forbidden(let what): throw .unsafe(type, what: what)
            }
        }
    }
}

extension ImageRejection: CustomStringConvertible {
    /// A sentence without its full stop; the only text in it that comes from the bytes is numbers.
    package var description: String {
        switch self {
        case .notAnImage(nil):
            "the data is not an image of an accepted type"
        case .notAnImage(let hint?):
            "the data is not an image of an accepted type: it looks like \(hint)"
        case .truncated(let type):
            "the \(type.name) image is truncated"
        case .truncatedAtSource(let type):
            "the \(type.name) image is truncated \(Self.atSource)"
        case .damaged(let type, let what):
            "the \(type.name) image is damaged: \(what)"
        case .tooLarge(let width, let height, let limits) where max(width, height) > limits.maxSide:
            "the image has \(width) × \(height) pixels: a side is longer than images.maxSide (\(limits.maxSide))"
        case .tooLarge(let width, let height, let limits):
            "the image has \(width) × \(height) pixels: more than images.maxPixels (\(limits.maxPixels))"
        case .tooManyFrames(let type, let count, let limits):
            "the \(type.name) image has \(count) frames: more than \(limits.maxFrames)"
        case .tooManyLayers(let type, let pixels, let limit):
            "the layers of the \(type.name) image have \(pixels) pixels: more than \(limit)"
        case .unsafe(let type, let what):
            "the \(type.name) image is not safe to show: \(what)"
        }
    }
}
