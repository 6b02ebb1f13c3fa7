// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules
import ImageChecks

@testable import SyncPlan

extension SimulatedWorld {
    /// Lets a download end, or several at once.
    mutating func endDownloads(succeeds: Bool = false) throws(Violation) {
        var ends: [(url: IconURL, outcome: FetchOutcome)] = []
        repeat {
            guard let end = endDownload(succeeds: succeeds) else { break }
            ends.append(end)
        } while chance(30)
        guard !ends.isEmpty else { return }
        for case .image(let staged, _) in ends.map(\.outcome) { lastPurge?.received.insert(staged.image.sha256) }
        try handle(
            ends.map {
                let isMultiplexed = [true, false, nil].randomElement(using: &generator) ?? nil
                return .fetched(EndedDownload(url: $0.url, $0.outcome, isMultiplexed: isMultiplexed))
            })
        for (url, outcome) in ends {
            switch outcome {
            case .image(_, let response): received[url] = response.responseTime
            case .notModified:
                received[url] = now
                // An answer to a request from before a purge confirms nothing.
                if plan.icon(url)?.image != nil { recordFresh(url) }
            case .failed, .noRoom, .cancelled: received[url] = now
            }
        }
    }

    private mutating func endDownload(succeeds: Bool) -> (url: IconURL, outcome: FetchOutcome)? {
        guard let url = downloads.keys.sorted().randomElement(using: &generator),
            let request = downloads.removeValue(forKey: url)
        else { return nil }
        if let shared = request.shared { return (url, copy(shared, for: url, succeeds: succeeds)) }
        let etag = "\(content(of: url))"
        let image = Sample.image(etag)
        let outcome: FetchOutcome
        let isDead = servers.dead.contains(SimulatedServers.host(of: request.url)) && !succeeds
        switch succeeds ? 99 : Int.random(in: 0..<100, using: &generator) {
        case 0..<100 where isFull && !succeeds:
            isShut = true
            outcome = .noRoom(Self.shortage(bytes: chance(50) ? image.bytes : 0))
        case 24..<27: outcome = .noRoom(Self.shortage(bytes: image.bytes, isGeneral: false))
        case 10..<100 where isDead: outcome = .failed(SimulatedServers.failure(using: &generator))
        case 0..<10: outcome = .failed(.timeout("the test's patience"))
        case 10..<12: outcome = .failed(.status([401, 404, 410, 503].randomElement(using: &generator) ?? 404))
        case 12..<14: outcome = .failed(page())
        case 14..<17: outcome = .failed(.status(429, retryAfter: .seconds(500)))
        case 17..<24: outcome = .cancelled
        default:
            if request.condition?.validators.etag == etag {
                outcome = .notModified(Sample.response(etag: etag, at: now))
            } else {
                lastStaged += 1
                disk.staging.insert("\(lastStaged)")
                outcome = .image(StagedImage(name: "\(lastStaged)", image: image), Sample.response(etag: etag, at: now))
            }
        }
        record("\(url): \(outcome.summary)")
        leavePart(of: url, after: outcome)
        servers.record(outcome, of: request, at: now, retryMax: settings.fetch.retryMax)
        return (url, outcome)
    }

    /// A page in place of an image, which is often the same for all servers.
    private mutating func page() -> FetchFailure {
        var failure = FetchFailure.image(.notAnImage(hint: "HTML"))
        failure.page = FetchFailure.Page(body: .of([chance(80) ? 1 : 2]))
        return failure
    }

    /// Copies the image of another icon.
    private mutating func copy(_ shared: SharedImage, for url: IconURL, succeeds: Bool) -> FetchOutcome {
        let outcome: FetchOutcome
        switch succeeds ? 99 : Int.random(in: 0..<100, using: &generator) {
        case 0..<100 where isFull && !succeeds:
            isShut = true
            outcome = .noRoom(Self.shortage(bytes: shared.image.bytes))
        case 0..<10: outcome = .failed(FetchFailure(.disk, "the test's disk"))
        case 10..<20: outcome = .cancelled
        default:
            let isThere =
                disk.images.contains(shared.image.sha256) || shared.staged.map(disk.staging.contains) ?? false
            if isThere {
                lastStaged += 1
                disk.staging.insert("\(lastStaged)")
                outcome = .image(StagedImage(name: "\(lastStaged)", image: shared.image), shared.response)
            } else {
                outcome = .failed(FetchFailure(.disk, "the image is gone"))
            }
        }
        record("\(url), as another: \(outcome.summary)")
        return outcome
    }

    /// Leaves the beginning of an image, or none.
    mutating func leavePart(of url: IconURL, after outcome: FetchOutcome) {
        let isCut =
            switch outcome {
            case .cancelled: true
            case .failed(let failure): failure.leavesPart
            case .image, .notModified, .noRoom: false
            }
        guard isCut, chance(50) else { return }
        disk.partials.insert(url)
        record("a part of \(url) is left")
    }

    /// Notes that the server vouched for the image on disk just now, unless a user has wanted a full request since.
    mutating func recordFresh(_ url: IconURL) {
        let icon = plan.icon(url)
        // Also while the full request waits for that of a URL with another fragment.
        if icon?.fullRequest == .wanted || icon?.fullRequest == .sent && icon?.phase == .fetching { return }
        fresh[url] = disk.names[url].map { ((received[url] ?? now) + settings.refresh.default * 0.79, $0) }
    }

    mutating func changeContents() {
        guard let url = Self.urls.randomElement(using: &generator) else { return }
        changeContent(of: url)
        record("the server has another image for \(url)")
    }

    mutating func changeServers() {
        guard let host = ["a.example", "b.example", "c.example"].randomElement(using: &generator) else { return }
        if servers.dead.remove(host) == nil { servers.dead.insert(host) }
        record("\(host) \(servers.dead.contains(host) ? "dies" : "comes back")")
    }

    mutating func awaitIcons() throws(Violation) {
        let urls = Self.urls.filter { _ in chance(30) }
        record("somebody waits for \(urls.map(\.text).joined(separator: " "))")
        try handle(.awaited(urls))
    }
}

extension FetchOutcome {
    /// The outcome in a few words.
    fileprivate var summary: String {
        switch self {
        case .image(let staged, _): "image \(staged.image.sha256.hex.prefix(8)) as \(staged.name)"
        case .notModified: "not modified"
        case .failed(let failure): failure.code.rawValue
        case .noRoom(let shortage): shortage.isGeneral ? "no room" : "no room for \(shortage.bytes) bytes"
        case .cancelled: "cancelled"
        }
    }
}
