// SPDX-License-Identifier: Apache-2.0
import CacheFormat

extension Reconciler {
    /// Whether there is the beginning of an image, and the next attempt may go on where it ends.
    ///
    /// Every eighth time the whole image is asked for: a server that does not answer the other request, or breaks off
    /// its answer each time, does not keep an icon away.
    func mayResume(_ url: IconURL, after failure: IconRecord.Failure?) -> Bool {
        partials.contains(url) && !((failure?.attempts ?? 0) + 1).isMultiple(of: 8)
    }

    /// Notes what a download may have left behind, and removes what is of no use any more.
    mutating func notePartial(
        of url: IconURL, after outcome: FetchOutcome, isTrusted: Bool, to actions: inout [Action]
    ) {
        let mayBeLeft =
            switch outcome {
            case .cancelled: true
            case .failed(let failure): failure.leavesPart
            case .image, .notModified, .noRoom: false
            }
        if mayBeLeft, isTrusted, catalog.icons[url]?.isReferenced == true {
            partials.insert(url)
        } else if mayBeLeft || partials.contains(url) {
            discardPartials([url], to: &actions)
        }
    }

    /// Removes the beginnings of images that no list names.
    ///
    /// What is still being downloaded is seen to when that ends.
    mutating func discardUnnamedPartials(to actions: inout [Action]) {
        let unnamed = partials.filter { url in
            guard let icon = catalog.icons[url] else { return true }
            return !icon.isReferenced && icon.phase != .fetching
        }
        if !unnamed.isEmpty { discardPartials(unnamed, to: &actions) }
    }

    mutating func discardPartials(_ urls: Set<IconURL>, to actions: inout [Action]) {
        partials.subtract(urls)
        actions.append(.discardPartials(urls))
    }
}
