// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Fleet
import HTTPRules

// URLs that differ in their fragment alone are one download.
extension IconBook {
    /// Starts a download, unless that of another icon brings the same image, has brought it, or has failed.
    mutating func begin(_ request: FetchRequest, in turn: inout Turn) {
        // Most URLs have no fragment, and share no download.
        guard !sharedDownloads.isEmpty || request.url.hasFragment else { return turn.actions.append(.fetch(request)) }
        var request = request
        let isInsisted = sharedDownloads.endInsistence(on: request.url)
        // Copies of upstreams are chosen for each icon.
        guard request.copy == nil else { return turn.actions.append(.fetch(request)) }
        if let other = sharedDownloads.requested(before: request.url), let icon = catalog.icons[other] {
            if icon.phase == .fetching, !sources.isTaking(other), !sharedDownloads.isWaiting(other) {
                let isShared =
                    !request.bypassesCaches
                    || icon.fullRequest == .sent && sharedDownloads.isFullRequest(of: other, after: request.url)
                if isInsisted, !isShared { sharedDownloads.insist(on: request.url) }
                return sharedDownloads.wait(request, for: other, isShared: isShared)
            }
            if !isInsisted, !request.bypassesCaches || icon.isFullRequested,
                var failure = failure(of: icon, for: request.url, at: turn.now)
            {
                failure.message = FetchFailure.leavingOutPart(of: failure.message)
                _ = downloads.finish(EndedDownload(url: request.url, .cancelled), ofOrigin: false, in: &turn)
                sharedDownloads.recordFailure(of: request.url, and: other)
                return apply(.ended(.failed(failure), trail: icon.trail), to: request.url, in: &turn)
            }
            request.shared = image(of: other, icon, for: request, isInsisted: isInsisted, at: turn.now)
            if request.shared != nil { sharedDownloads.beginCopy(for: request.url, of: other) }
        }
        if request.shared == nil { sharedDownloads.record(request.url) }
        turn.actions.append(.fetch(request))
    }

    /// The image of another icon, if it is fresh, and its response is newer than that of this icon.
    ///
    /// After a user's request, the response must be newer than that. In place of a full request, only the response to
    /// another full request counts, if that was sent after the user asked.
    private func image(
        of url: IconURL, _ other: IconRecord, for request: FetchRequest, isInsisted: Bool, at now: Timestamp
    ) -> SharedImage? {
        // If the image of the other icon could not be read, the server is asked.
        guard let icon = catalog.icons[request.url], icon.failure?.code != .fetch(.disk) else { return nil }
        let shared: SharedImage
        if let staged = other.staged, let answer = other.stagedAnswer {
            shared = SharedImage(
                image: catalog.images.image(staged.image), staged: staged.name, response: answer.response.unpacked)
        } else if let image = other.image, let response = catalog.icons.response(of: url), other.freshUntil > now,
            catalog.images[image].isOnDisk
        {
            shared = SharedImage(image: catalog.images.image(image), staged: nil, response: response.unpacked)
        } else {
            return nil
        }
        // The upstream's answer is not about this icon.
        guard !sources.gave(responseFrom: shared.response.url), icon.accepts(shared.image.sha256) else { return nil }
        if request.bypassesCaches {
            let isFull = other.fullRequest == (shared.staged == nil ? .answered : .sent)
            return isFull && sharedDownloads.isFullRequest(sentAt: shared.response.requestTime, after: request.url)
                ? shared : nil
        }
        let time = shared.response.responseTime
        let known = catalog.icons.response(of: request.url)?.responseTime
        let isNewer = isInsisted ? icon.freshUntil <= time : known.map { $0 < time } ?? !icon.hasImage
        return isNewer ? shared : nil
    }

    /// The failure of another icon, if it waits for its next attempt and no setting or list of this icon matters.
    private func failure(of other: IconRecord, for url: IconURL, at now: Timestamp) -> IconRecord.Failure? {
        // A failure without an attempt comes from an upstream.
        guard other.phase == .idle, let failure = other.failure, failure.attempts > 0,
            let next = failure.nextAttempt, next > now, isShared(failure.code, with: url)
        else { return nil }
        return failure
    }

    /// Whether a failure is one of the request, so that another icon's request would fail alike.
    private func isShared(_ code: FetchFailure.Code, with url: IconURL) -> Bool {
        switch code {
        case .fetch(.digestMismatch), .fetch(.disk): false
        // Each icon that gets the page of a login waits for it on its own.
        case .fetch(.networkLogin): false
        // Another list may have another credential: servers also answer 404 for private files.
        case .http where !settings.credentials.isEmpty: false
        case .fetch, .http, .image, .url: !settings.credentials.mayDepend(code, of: url)
        }
    }

    /// Passes the end of a download on to the icons that share it: those that wait, and after a success those that failed.
    mutating func share(_ ended: EndedDownload, isCopy: Bool, in turn: inout Turn) {
        guard !sharedDownloads.isEmpty else { return }
        let url = ended.url
        if let id = catalog.icons.id(of: url) {
            switch ended.outcome {
            case _ where catalog.icons[id].icon.hasFailed: sharedDownloads.recordFailure(of: url)
            case .image, .notModified:
                // The image stays known when the icon that it was requested for goes.
                if isCopy, let last = sharedDownloads.requested(before: url), catalog.icons[last]?.phase != .fetching {
                    sharedDownloads.record(url)
                }
                retryFailed(with: url, in: &turn)
            case .failed, .noRoom, .cancelled: break
            }
        }
        endWaits(with: ended, in: &turn)
    }

    /// Retries icons that failed and can get the image of another one now.
    private mutating func retryFailed(with url: IconURL, in turn: inout Turn) {
        let failed = sharedDownloads.failures(besides: url)
        guard !failed.isEmpty, let icon = catalog.icons[url],
            let response = icon.stagedAnswer?.response ?? catalog.icons.response(of: url),
            !sources.gave(responseFrom: response.url),
            let image = catalog.images.digest(icon.shownImage)
        else { return }
        for other in failed.sorted() {
            guard let icon = catalog.icons[other], icon.phase == .idle, icon.accepts(image) else { continue }
            sharedDownloads.endFailure(of: other)
            if icon.hasFailed { apply(.retried(turn.now), to: other, in: &turn) }
        }
    }

    /// Ends the requests that waited for the download of an icon.
    private mutating func endWaits(with ended: EndedDownload, in turn: inout Turn) {
        let url = ended.url
        for entry in sharedDownloads.endWaits(for: url) {
            var request = entry.request
            // With any other outcome, the icon is queued again.
            var end = EndedDownload(url: request.url, .cancelled)
            switch entry.isShared ? ended.outcome : .cancelled {
            case .failed(var failure) where isShared(failure.code, with: request.url):
                failure.message = FetchFailure.leavingOutPart(of: failure.message)
                sharedDownloads.recordFailure(of: request.url, and: url)
                (end.outcome, end.trail) = (.failed(failure), ended.trail)
            case .image(let staged, let response) where catalog.icons[url]?.staged?.name == staged.name:
                request.shared = SharedImage(image: staged.image, staged: staged.name, response: response)
                sharedDownloads.beginCopy(for: request.url, of: url)
                turn.actions.append(.fetch(request))
                continue
            case .notModified where isSame(request.url, as: url) && !request.bypassesCaches:
                (end.outcome, end.trail) = (ended.outcome, ended.trail)
            case .image, .notModified, .failed, .noRoom, .cancelled: break
            }
            endDownload(end, isRequest: false, in: &turn)
        }
    }

    /// Whether two icons have the same image on disk.
    private func isSame(_ url: IconURL, as other: IconURL) -> Bool {
        guard let image = catalog.icons[url]?.image else { return false }
        return image == catalog.icons[other]?.image
    }

    /// Cancels a download.
    mutating func cancel(_ url: IconURL, in turn: inout Turn) {
        if sharedDownloads.endWait(of: url) {
            endDownload(EndedDownload(url: url, .cancelled), isRequest: false, in: &turn)
        } else {
            turn.actions.append(.cancel(url: url))
        }
    }
}
