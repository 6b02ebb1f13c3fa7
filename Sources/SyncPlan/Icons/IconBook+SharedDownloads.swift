// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Fleet
import HTTPRules

// URLs that differ in their fragment alone are one download.
extension IconBook {
    /// Starts a download, unless that of another icon brings the same image, or has brought it.
    mutating func begin(_ request: FetchRequest, in turn: inout Turn) {
        var request = request
        if request.copy == nil, let other = sharedDownloads.requested(before: request.url),
            let icon = catalog.icons[other]
        {
            if icon.phase == .fetching, !sources.isTaking(other), !sharedDownloads.isWaiting(other) {
                return sharedDownloads.wait(request, for: other)
            }
            request.shared = image(of: icon, for: request.url, at: turn.now)
            if request.shared != nil { sharedDownloads.take(request.url, from: other) }
        }
        if request.shared == nil { sharedDownloads.record(request.url) }
        turn.actions.append(.fetch(request))
    }

    /// The image of another icon, if it is fresh and came after that of this icon had to be asked for again.
    private func image(of other: IconRecord, for url: IconURL, at now: Timestamp) -> SharedImage? {
        // After a failure, one to read the image of the other among them, the server is asked.
        guard let icon = catalog.icons[url], !icon.hasFailed else { return nil }
        let shared: SharedImage
        if let staged = other.staged, let answer = other.stagedAnswer {
            shared = SharedImage(image: staged.image, staged: staged.name, response: answer.response)
        } else if let image = other.image, let response = other.response, other.freshUntil > now,
            retention.ledger.isOnDisk(image.sha256)
        {
            shared = SharedImage(image: image, staged: nil, response: response)
        } else {
            return nil
        }
        let isNewer = !icon.hasImage || icon.freshUntil <= shared.response.responseTime
        return isNewer && icon.accepts(shared.image.sha256) ? shared : nil
    }

    /// Ends the requests that waited for the download of an icon.
    mutating func endWaits(for url: IconURL, _ outcome: FetchOutcome, _ trail: FetchTrail?, in turn: inout Turn) {
        for var request in sharedDownloads.endWaits(for: url) {
            switch outcome {
            case .failed(let failure) where !settings.credentials.mayDepend(failure.code, of: request.url):
                endDownload(outcome, trail, of: request.url, isRequest: false, in: &turn)
            case .image(let staged, let response) where catalog.icons[url]?.staged == staged:
                request.shared = SharedImage(image: staged.image, staged: staged.name, response: response)
                sharedDownloads.take(request.url, from: url)
                turn.actions.append(.fetch(request))
            case .notModified where isSame(request.url, as: url):
                endDownload(outcome, trail, of: request.url, isRequest: false, in: &turn)
            case .image, .notModified, .failed, .noRoom, .cancelled:
                // It is queued again.
                endDownload(.cancelled, nil, of: request.url, isRequest: false, in: &turn)
            }
        }
    }

    /// Whether two icons have the same image on disk.
    private func isSame(_ url: IconURL, as other: IconURL) -> Bool {
        guard let image = catalog.icons[url]?.boxedImage.digest else { return false }
        return image == catalog.icons[other]?.boxedImage.digest
    }

    /// Cancels a download.
    mutating func cancel(_ url: IconURL, in turn: inout Turn) {
        if sharedDownloads.endWait(of: url) {
            endDownload(.cancelled, nil, of: url, isRequest: false, in: &turn)
        } else {
            turn.actions.append(.cancel(url: url))
        }
    }
}
