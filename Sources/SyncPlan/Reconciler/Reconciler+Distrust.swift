// SPDX-License-Identifier: Apache-2.0
import IconCache

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

    /// Gives up an image that was to be published.
    mutating func drop(
        _ staged: StagedImage, of url: IconURL, because reason: String, isOutOfSpace: Bool, now: Timestamp
    ) {
        catalog.updateIcon(url) {
            $0.staged = nil
            $0.stagedAnswer = nil
        }
        if isOutOfSpace {
            crowdOut(url, Shortage(bytes: staged.image.bytes, isGeneral: true, reason: reason), now: now)
        } else {
            noteFailure(FetchFailure("disk", reason, .passing), of: url, now: now)
        }
        consider(url, now: now)
        forgetIfDone(url, now: now)
    }
}
