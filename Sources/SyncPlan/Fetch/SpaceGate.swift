// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules

/// Decides whether there is room for downloads, and when to check again; knows the images and documents that wait for
/// room.
///
/// If an image of usual size does not fit, the gate closes and no download starts. A larger image that does not fit
/// waits alone. While anything waits, the file system is checked every few seconds, which costs one call. That call
/// does not show quotas, so a trial file of the missing size is written before downloads resume.
struct SpaceGate: Sendable {
    /// The interval between checks, and the longest delay before the first one if admitted images repeatedly did not
    /// fit.
    private static let pace: (usual: Duration, longest: Duration) = (.seconds(5), .seconds(60))

    /// The last shortage; `nil` if nothing waits.
    private var shortage: Shortage?
    /// The bytes needed by each URL whose image did not fit.
    private(set) var needs: [IconURL: Int] = [:]
    /// The bytes needed by each list whose document did not fit.
    private(set) var documents: [ListName: Int] = [:]
    private var documentShortage: Shortage?
    /// The total size of a publication that did not fit: a part of it that fits alone would be downloaded in vain.
    private var lost: (bytes: Int, until: Timestamp)?
    /// How often the gate has closed since images were last published.
    private var closings = 0
    private(set) var nextLook: Timestamp?
    private var isLooking = false

    /// Whether an image of usual size fits, so that downloads may start.
    var isOpen: Bool { !(shortage?.isGeneral ?? false) }

    /// The reason why images or documents wait for room; `nil` if none do.
    var reason: String? { waitsFor?.reason }

    var waitsFor: Shortage? { shortage ?? documentShortage }

    // MARK: Shortages

    /// Records that an image did not fit; `url` is `nil` if the image is no longer wanted.
    mutating func record(_ shortage: Shortage, of url: IconURL?, at now: Timestamp) {
        if let url { needs[url] = shortage.bytes }
        record(shortage, at: now)
    }

    /// Records that a publication did not fit; its images, if any, are lost.
    mutating func recordLost(_ shortage: Shortage, hadImages: Bool, at now: Timestamp) {
        if hadImages { lost = (shortage.bytes, now + Self.pace.longest) }
        record(shortage, at: now)
    }

    private mutating func record(_ shortage: Shortage, at now: Timestamp) {
        let wasOpen = isOpen
        if wasOpen || shortage.isGeneral { self.shortage = shortage }
        var delay = Self.pace.usual
        if wasOpen, !isOpen {
            delay = min(delay * (1 << min(closings, 10)), Self.pace.longest)
            closings += 1
        } else if nextLook != nil {
            return
        }
        if !isLooking { nextLook = now + delay }
    }

    mutating func forget(_ url: IconURL) {
        needs[url] = nil
        guard needs.isEmpty, isOpen else { return }
        shortage = nil
        if documents.isEmpty { nextLook = nil }
    }

    mutating func recordPublished() {
        closings = 0
        lost = nil
    }

    // MARK: Checks

    /// Makes a check due now, because files were removed.
    mutating func prioritize(at now: Timestamp) {
        if nextLook != nil { nextLook = now }
    }

    /// Begins a check if it is due, and returns the size of the trial file to write, in bytes.
    mutating func beginTrial(at now: Timestamp) -> Int? {
        guard let due = nextLook, due <= now else { return nil }
        nextLook = nil
        isLooking = true
        return max(lostBytes(at: now), needs.values.min() ?? documents.values.min() ?? DiskSpace.usual)
    }

    /// Ends a check with the free space, or the reason why the trial file could not be written (`found`).
    ///
    /// Returns the URLs whose images now fit together above `reserve`.
    mutating func apply(
        _ found: Result<DiskSpace, Shortage>, above reserve: SpaceReserve, at now: Timestamp
    ) -> [IconURL] {
        isLooking = false
        nextLook = now + Self.pace.usual
        let space: DiskSpace
        switch found {
        case .failure(let shortage):
            self.shortage = shortage
            return []
        case .success(let value): space = value
        }
        shortage = space.shortage(for: max(lostBytes(at: now), DiskSpace.usual), above: reserve)
        shortage?.isGeneral = true
        guard shortage == nil else { return [] }
        var admitted: [IconURL] = []
        var sum = 0
        for (url, bytes) in needs.sorted(by: { ($0.value, $0.key) < ($1.value, $1.key) }) {
            sum += bytes
            shortage = space.shortage(for: sum, above: reserve)
            guard shortage == nil else { return admitted }
            needs[url] = nil
            admitted.append(url)
        }
        if documents.isEmpty { nextLook = nil }
        return admitted
    }

    // MARK: Documents

    mutating func record(_ shortage: Shortage, ofDocuments sizes: [ListName: Int], at now: Timestamp) {
        documents.merge(sizes) { $1 }
        documentShortage = documents.isEmpty ? nil : shortage
        if !documents.isEmpty, nextLook == nil, !isLooking { nextLook = now + Self.pace.usual }
    }

    mutating func forgetDocument(of list: ListName) {
        documents[list] = nil
        guard documents.isEmpty else { return }
        documentShortage = nil
        if shortage == nil { nextLook = nil }
    }

    /// Admits the documents that fit, the shortest first, and returns the lists that still wait.
    mutating func admitDocuments(to space: DiskSpace, above reserve: SpaceReserve) -> Set<ListName> {
        var room = space.roomForDocuments(above: reserve)
        for (list, bytes) in documents.sorted(by: { ($0.value, $0.key) < ($1.value, $1.key) }) {
            guard bytes <= room else {
                documentShortage = space.shortage(forDocuments: bytes, above: reserve) ?? documentShortage
                break
            }
            room -= bytes
            documents[list] = nil
        }
        if documents.isEmpty { documentShortage = nil }
        return Set(documents.keys)
    }

    /// The size of images that were lost for lack of room: it must be free before any image is downloaded again.
    private func lostBytes(at now: Timestamp) -> Int {
        guard let lost, lost.until > now else { return 0 }
        return lost.bytes
    }
}
