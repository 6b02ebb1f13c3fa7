// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

/// Tells downloads that get further with each cut from downloads that always end at the same byte.
///
/// A download that gets further is resumed soon, however often it is cut. One that does not fails as lastingly as a
/// file that is truncated on its server.
struct CutDownloads: Sendable {
    /// How many responses with the whole image must end at the same byte, and for how long, to count as lasting: a
    /// server that restarts may end a few at the size of its buffer.
    ///
    /// Within the same time, at most one whole response takes the place of a larger part.
    static let fewest = 3
    static let patience: Duration = .seconds(300)
    /// The number of requests for the rest without progress after which the whole image is requested.
    static let mostFruitless = 3

    private struct Place {
        /// The byte at which responses with the whole image end.
        var end: Int
        /// When the first of these responses came, and how many there were in a row.
        var since: Timestamp
        var count = 0
        /// The most bytes of the image that any part had.
        var best = 0
        /// The bytes that the present part had at its last progress.
        ///
        /// They are fewer than ``best`` if an earlier part was lost, for example because the image changed on the
        /// server.
        var part = 0
        /// When a whole response last took the place of a larger part.
        var renewed: Timestamp?
        /// The requests for the rest since the last progress.
        var fruitless = 0
    }

    private var places: [IconURL: Place] = [:]

    /// Whether the next attempt may request the rest, instead of the whole image.
    func mayResume(_ url: IconURL) -> Bool { places[url].map { $0.fruitless < Self.mostFruitless } ?? true }

    mutating func forget(_ url: IconURL) {
        // Most machines never have a cut download.
        if places.isEmpty { return }
        places[url] = nil
    }

    /// Records how a request to the origin ended.
    ///
    /// - Parameters:
    ///   - outcome: The outcome of the request.
    ///   - url: The icon.
    ///   - last: The code of the icon's failure before.
    ///   - now: The time.
    /// - Returns: The outcome. A failure is marked as progress or not; a lasting one becomes
    ///   ``FetchFailure/cutShort(at:)``.
    mutating func record(
        _ outcome: FetchOutcome, of url: IconURL, after last: FetchFailure.Code?, at now: Timestamp
    ) -> FetchOutcome {
        switch outcome {
        case .image, .notModified: forget(url)
        case .noRoom, .cancelled: break
        case .failed(let failure):
            if let cut = failure.cut { return .failed(record(failure, cut, of: url, after: last, at: now)) }
            if !failure.leavesPart { forget(url) }
        }
        return outcome
    }

    private mutating func record(
        _ failure: FetchFailure, _ cut: FetchFailure.Cut, of url: IconURL, after last: FetchFailure.Code?,
        at now: Timestamp
    ) -> FetchFailure {
        // After a restart, only the code of the last failure is known.
        let wasShort = last == .fetch(.cutShort)
        var cut = cut
        var place = places[url] ?? Place(end: cut.end, since: now)
        if places[url] == nil, wasShort {
            (place.best, place.part, place.fruitless) = (cut.end, cut.end, Self.mostFruitless - 2)
        }
        defer { places[url] = place }
        let least = PartialDownload.leastProgress.bytes
        if cut.isKept, cut.end >= place.best + least {
            cut.isProgress = true
            place = Place(end: cut.end, since: now, count: cut.isWhole ? 1 : 0, best: cut.end, part: cut.end)
        } else if cut.isWhole {
            if cut.end != place.end { (place.end, place.since, place.count) = (cut.end, now, 0) }
            place.count += 1
            place.fruitless = 0
            let isShort = wasShort || place.count >= Self.fewest && now - place.since >= Self.patience
            // Replaced more often, an image that changes again and again would count as progress each time, and be
            // requested every second forever.
            if cut.end < place.part, isShort || place.renewed.map({ now - $0 >= Self.patience }) ?? true {
                (place.part, place.renewed) = (cut.end, now)
            }
            if isShort {
                // The next attempt requests the rest, and the one after that the whole image.
                place.fruitless = Self.mostFruitless - 1
                return .cutShort(at: cut)
            }
        } else if cut.isKept, cut.end >= place.part + least {
            // This part is no longer than one that was lost, so it does not show that whole responses get further.
            cut.isProgress = true
            (place.part, place.fruitless) = (cut.end, 0)
        } else if failure.mayBeCut {
            place.fruitless += 1
            if wasShort { return .cutShort(at: cut) }
        }
        return cut.isKept ? failure.keeping(cut) : failure
    }
}
