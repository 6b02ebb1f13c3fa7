// SPDX-License-Identifier: Apache-2.0

/// The paths in a cache folder, relative to it.
package enum CacheLayout {
    /// The format version of manifests and list documents that this code reads and writes.
    package static let format = 1

    package static let manifest = "manifest.json"
    package static let generations = "generations"
    package static let lists = "lists"
    package static let icons = "icons"
    package static let byURL = "by-url"
    package static let bySize = "by-size"
    package static let signatures = "signatures"
    package static let staging = "staging"
    package static let tag = "CACHEDIR.TAG"
    package static let lock = "lock"
    /// All names in the folder itself.
    package static let entries = [
        manifest, generations, lists, icons, byURL, bySize, "share", staging, tag, lock,
    ]

    /// The file of a generation: `generations/42.json`.
    package static func generation(_ number: Int) -> String {
        "\(generations)/\(number).json"
    }

    /// A list document: `lists/<sha256>.json`.
    package static func document(_ digest: Digest) -> String {
        "\(lists)/\(digest.hex).json"
    }

    /// The digest of a file in `lists/`; `nil` for any other name.
    package static func documentDigest(fileName: String) -> Digest? {
        fileName.ends(withBytes: ".json") ? Digest(hex: fileName.droppingLast(bytes: 5)) : nil
    }

    /// An image: `icons/ab/<sha256>.<suffix>`.
    package static func image(_ digest: Digest, suffix: String) -> String {
        digest.path(in: icons, end: "." + suffix)
    }

    /// Whether a text can be the suffix of an image's path: 1 to 16 ASCII digits and small letters.
    package static func isImageSuffix(_ text: some StringProtocol) -> Bool {
        (1...16).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) }
    }

    /// The signature of a manifest with this digest, in a signed copy: `signatures/<sha256>.minisig`.
    package static func signature(_ digest: Digest) -> String {
        "\(signatures)/\(digest.hex).minisig"
    }

    /// The link to a URL's current image, found without reading a document: `by-url/ab/<sha256 of the URL>`.
    package static func byURL(_ url: IconURL) -> String {
        byURL(.of(url.text))
    }

    /// The link to the current image of the URL with this digest.
    package static func byURL(_ digest: Digest) -> String {
        digest.path(in: byURL)
    }

    /// The link to the rendition of the current image of the URL with this digest: `by-size/64@2/ab/<sha256>`.
    package static func bySize(_ size: RenditionSize, _ digest: Digest) -> String {
        digest.path(in: "\(bySize)/\(size)")
    }

    /// The icon theme in the cache, which `XDG_DATA_DIRS` leads to by way of `share`.
    package static let theme = "share/icons/hicolor"

    /// The folder of a size in an icon theme: `64x64`, or with a scale `64x64@2` (Icon Theme Specification).
    package static func themeFolder(_ size: RenditionSize) -> String {
        "\(size.length)x\(size.length)" + (size.scale == 1 ? "" : "@\(size.scale)")
    }

    /// The valid numbers of generations: JSON readers may round larger ones (RFC 8259, section 6).
    package static let generationNumbers = 0...(1 << 53)

    /// The numbers of generations after which an agent publishes the next one.
    ///
    /// A manifest with a later number counts as damaged: hardly any number would be left after it.
    package static let usedGenerationNumbers = 0...(1 << 53 - 1_000_000)

    /// The number of a file in `generations/`; `nil` for any other name.
    package static func generationNumber(fileName: String) -> Int? {
        guard fileName.ends(withBytes: ".json"), let number = Int(fileName.droppingLast(bytes: 5)),
            generationNumbers.contains(number),
            fileName == "\(number).json"
        else { return nil }
        return number
    }

    /// The two-digit folders of `icons/` and `by-url/`: `00` to `ff`.
    package static var fanOut: [String] {
        (0..<256).map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }
    }
}
