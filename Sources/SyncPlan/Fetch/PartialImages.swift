// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

/// The icons with partial downloads in `staging/`.
struct PartialImages: Sendable {
    private(set) var urls: Set<IconURL> = []

    /// Whether the next attempt may resume a partial download.
    ///
    /// Every eighth attempt requests the whole image, so that a server which fails on range requests does not block the
    /// icon.
    func mayResume(_ url: IconURL, after failure: IconRecord.Failure?) -> Bool {
        urls.contains(url) && !((failure?.attempts ?? 0) + 1).isMultiple(of: 8)
    }

    /// Records the partial file that a download may have left behind.
    ///
    /// - Parameters:
    ///   - outcome: How the download ended.
    ///   - url: The icon.
    ///   - isRequest: Whether a request was sent; if not, a partial file of an earlier one is still there.
    ///   - isUseful: Whether the icon is wanted and the bytes can be trusted.
    /// - Returns: Whether the partial file is useless and must be removed.
    mutating func record(_ outcome: FetchOutcome, of url: IconURL, isRequest: Bool = true, isUseful: Bool) -> Bool {
        let mayBeLeft =
            switch outcome {
            case .cancelled: isRequest || urls.contains(url)
            case .failed(let failure): isRequest ? failure.leavesPart : urls.contains(url)
            case .image, .notModified, .noRoom: false
            }
        if mayBeLeft, isUseful {
            urls.insert(url)
            return false
        }
        return urls.remove(url) != nil || mayBeLeft
    }

    /// Forgets useless partial files and returns their URLs; `nil` if there are none.
    mutating func forget(where isUseless: (IconURL) -> Bool) -> Set<IconURL>? {
        let useless = urls.filter(isUseless)
        urls.subtract(useless)
        return useless.isEmpty ? nil : useless
    }
}
