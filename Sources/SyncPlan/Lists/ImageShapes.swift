// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// The types and sizes of very many images: an image takes 16 bytes.
struct ImageShapes: Sendable {
    struct Shape: Sendable {
        fileprivate var bytes: UInt32 = 0
        fileprivate var width: UInt32 = 0
        fileprivate var height: UInt32 = 0
        /// An index in ``kinds``; `nil` for an image in ``others``.
        fileprivate var kind: UInt8?
    }

    private struct Kind: Sendable {
        let type: String
        let suffix: String

        /// Compares by bytes: documents of other programs may have any type.
        func isSame(as other: Kind) -> Bool {
            suffix == other.suffix && type.utf8.elementsEqual(other.type.utf8)
        }
    }

    /// The most kinds; the agent accepts fewer types.
    private static let mostKinds = 32

    private var kinds: [Kind] = []
    /// Images of other kinds, with other paths, or with larger numbers.
    private var others: [Digest: AppListDocument.Image] = [:]

    /// The shape of an image, which must be forgotten with it.
    mutating func shape(of image: AppListDocument.Image) -> Shape {
        if let bytes = UInt32(exactly: image.bytes), let width = UInt32(exactly: image.width),
            let height = UInt32(exactly: image.height), let kind = kind(of: image)
        {
            return Shape(bytes: bytes, width: width, height: height, kind: kind)
        }
        others[image.sha256] = image
        return Shape()
    }

    private mutating func kind(of image: AppListDocument.Image) -> UInt8? {
        guard let suffix = image.plainSuffix else { return nil }
        let kind = Kind(type: image.type, suffix: suffix)
        if let known = kinds.firstIndex(where: { $0.isSame(as: kind) }) { return UInt8(known) }
        guard kinds.count < Self.mostKinds else { return nil }
        kinds.append(kind)
        return UInt8(kinds.count - 1)
    }

    func image(_ digest: Digest, _ shape: Shape) -> AppListDocument.Image {
        guard let kind = shape.kind.map({ kinds[Int($0)] }) else { return other(digest) }
        return AppListDocument.Image(
            suffix: kind.suffix, sha256: digest, bytes: Int(shape.bytes), type: kind.type, width: Int(shape.width),
            height: Int(shape.height))
    }

    func bytes(_ digest: Digest, _ shape: Shape) -> Int {
        shape.kind == nil ? other(digest).bytes : Int(shape.bytes)
    }

    private func other(_ digest: Digest) -> AppListDocument.Image {
        guard let image = others[digest] else { preconditionFailure("an image without a kind is among the others") }
        return image
    }

    mutating func forget(_ digest: Digest, _ shape: Shape) {
        if shape.kind == nil { others[digest] = nil }
    }
}
