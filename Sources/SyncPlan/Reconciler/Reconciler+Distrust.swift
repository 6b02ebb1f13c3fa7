// SPDX-License-Identifier: Apache-2.0
import CacheFormat

extension Reconciler {
    /// Has everything downloaded anew that is not published yet.
    ///
    /// A flush that fails has tried to write all of it, and tells of each error once: the next flush says nothing of what
    /// this one has lost.
    mutating func distrustDownloads(
        because reason: String, isOutOfSpace: Bool = false, now: Timestamp, to actions: inout [Action]
    ) {
        distrusted = Set(queue.activeURLs)
        for url in stagedURLs {
            guard let staged = catalog.icons[url]?.staged else { continue }
            actions.append(.discard([staged.name]))
            drop(staged, of: url, because: reason, isOutOfSpace: isOutOfSpace, now: now)
        }
        stagedURLs = []
        let partials = partials.subtracting(distrusted)
        if !partials.isEmpty { discardPartials(partials, to: &actions) }
    }

    /// Has all that waits to be published asked for again: it was staged in another folder than the cache is in now.
    mutating func dropStaged(now: Timestamp, to actions: inout [Action]) {
        for url in stagedURLs {
            guard let staged = catalog.icons[url]?.staged else { continue }
            actions.append(.discard([staged.name]))
            dropStaged(of: url)
            consider(url, now: now)
            forgetIfDone(url, now: now)
        }
        stagedURLs = []
    }

    private mutating func dropStaged(of url: IconURL) {
        catalog.updateIcon(url) {
            $0.staged = nil
            $0.stagedAnswer = nil
        }
    }

    /// Gives up an image that was to be published.
    mutating func drop(
        _ staged: StagedImage, of url: IconURL, because reason: String, isOutOfSpace: Bool, now: Timestamp
    ) {
        dropStaged(of: url)
        if isOutOfSpace {
            crowdOut(url, Shortage(bytes: staged.image.bytes, isGeneral: true, reason: reason), now: now)
        } else {
            noteFailure(FetchFailure("disk", reason, .passing), of: url, now: now)
        }
        consider(url, now: now)
        forgetIfDone(url, now: now)
    }
}
