// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

/// The icons of whose images the beginning may be in `staging/`, for the next attempt to go on with.
struct PartialImages: Sendable {
    private(set) var urls: Set<IconURL>

    init(_ urls: Set<IconURL> = []) {
        self.urls = urls
    }

    /// Whether there is the beginning of an image, and the next attempt may go on where it ends.
    ///
    /// Every eighth time the whole image is asked for: a server that does not answer the other request, or breaks off
    /// its answer each time, does not keep an icon away.
    func mayResume(_ url: IconURL, after failure: IconRecord.Failure?) -> Bool {
        urls.contains(url) && !((failure?.attempts ?? 0) + 1).isMultiple(of: 8)
    }

    /// Takes note of what a download may have left behind.
    ///
    /// - Parameters:
    ///   - url: The icon.
    ///   - outcome: How the download ended.
    ///   - isUseful: Whether the icon is wanted, and what came can be trusted.
    /// - Returns: Whether what is left is of no use, and is to be removed.
    mutating func note(_ url: IconURL, after outcome: FetchOutcome, isUseful: Bool) -> Bool {
        let mayBeLeft =
            switch outcome {
            case .cancelled: true
            case .failed(let failure): failure.leavesPart
            case .image, .notModified, .noRoom: false
            }
        if mayBeLeft, isUseful {
            urls.insert(url)
            return false
        }
        return urls.remove(url) != nil || mayBeLeft
    }

    /// Forgets those that are of no use.
    ///
    /// - Returns: Them; `nil` if there are none.
    mutating func forget(where isUseless: (IconURL) -> Bool) -> Set<IconURL>? {
        let useless = urls.filter(isUseless)
        urls.subtract(useless)
        return useless.isEmpty ? nil : useless
    }
}
