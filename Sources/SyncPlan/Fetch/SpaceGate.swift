// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
package import CacheFormat
package import HTTPRules

/// Whether there is room for downloads, what waits for room, and when to look for it again.
///
/// Where there is no room for an image of usual size the gate is closed, and no download is begun. A larger one waits
/// alone. While anything waits the file system is looked at every few seconds, which costs a call; and because quotas
/// do not show there, a file of the size that did not fit is written as a trial before anything is downloaded.
package struct SpaceGate: Sendable {
    /// The time between two looks, and the longest before the first one after what was let in did not fit again and again.
    private static let pace: (usual: Duration, longest: Duration) = (.seconds(5), .seconds(60))

    /// Why there was no room the last time; `nil` if nothing waits for room.
    private var shortage: Shortage?
    /// How many bytes there must be room for, for each URL whose image did not fit.
    package private(set) var needs: [IconURL: Int] = [:]
    /// How many bytes there must be room for, for each list whose document did not fit.
    package private(set) var documents: [ListName: Int] = [:]
    /// Why the documents did not fit the last time.
    private var documentShortage: Shortage?
    /// What a publication that did not fit takes altogether: a part of it that fits alone would be downloaded in vain.
    private var lost: (bytes: Int, until: Timestamp)?
    /// How often the gate was closed since images were published.
    private var closings = 0
    /// When to look again.
    package private(set) var nextLook: Timestamp?
    /// Whether what the file system says is on its way.
    private var isLooking = false

    package init() {}

    /// Whether downloads may begin.
    package var isOpen: Bool { !(shortage?.isGeneral ?? false) }

    /// Why something waits for room; `nil` if nothing does.
    package var reason: String? { waitsFor?.reason }

    /// What there is not enough of for something that waits; `nil` if nothing does.
    var waitsFor: Shortage? { shortage ?? documentShortage }

    /// What there is not enough of; `nil` if nothing waits.
    package var code: Shortage.Code? { shortage?.code ?? documentShortage?.code }

    // MARK: What did not fit

    /// An image did not fit; `nil` is the URL of one that is not wanted any more.
    package mutating func note(_ shortage: Shortage, of url: IconURL?, at now: Timestamp) {
        if let url { needs[url] = shortage.bytes }
        note(shortage, at: now)
    }

    /// A publication did not fit; its images, if it had any, are gone.
    package mutating func noteLost(_ shortage: Shortage, hadImages: Bool, at now: Timestamp) {
        if hadImages { lost = (shortage.bytes, now + Self.pace.longest) }
        note(shortage, at: now)
    }

    private mutating func note(_ shortage: Shortage, at now: Timestamp) {
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

    /// An image is not wanted any more.
    package mutating func forget(_ url: IconURL) {
        needs[url] = nil
        guard needs.isEmpty, isOpen else { return }
        shortage = nil
        if documents.isEmpty { nextLook = nil }
    }

    /// Images were published.
    package mutating func notePublished() {
        closings = 0
        lost = nil
    }

    // MARK: Looks

    /// Something was removed: there may be room now.
    package mutating func prioritize(at now: Timestamp) {
        if nextLook != nil { nextLook = now }
    }

    /// Begins a look, if it is time for one.
    ///
    /// - Returns: How many bytes are to be written as a trial.
    package mutating func look(at now: Timestamp) -> Int? {
        guard let due = nextLook, due <= now else { return nil }
        nextLook = nil
        isLooking = true
        return max(lostBytes(at: now), needs.values.min() ?? documents.values.min() ?? DiskSpace.usual)
    }

    /// Ends a look.
    ///
    /// - Parameters:
    ///   - found: What the file system has; or why the trial could not be written.
    ///   - reserve: What is left free in any case.
    ///   - now: The present time.
    /// - Returns: The URLs for whose images there is room now, all of them together.
    package mutating func apply(
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

    /// The documents of lists did not fit.
    package mutating func note(_ shortage: Shortage, ofDocuments sizes: [ListName: Int], at now: Timestamp) {
        documents.merge(sizes) { $1 }
        documentShortage = documents.isEmpty ? nil : shortage
        if !documents.isEmpty, nextLook == nil, !isLooking { nextLook = now + Self.pace.usual }
    }

    /// A list is gone, and its document with it.
    package mutating func forgetDocument(of list: ListName) {
        documents[list] = nil
        guard documents.isEmpty else { return }
        documentShortage = nil
        if shortage == nil { nextLook = nil }
    }

    /// Admits the documents that there is room for, the shortest first.
    ///
    /// - Returns: The lists whose documents still wait.
    package mutating func admitDocuments(to space: DiskSpace, above reserve: SpaceReserve) -> Set<ListName> {
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

    /// What has to fit before anything is downloaded that would be lost again.
    private func lostBytes(at now: Timestamp) -> Int {
        guard let lost, lost.until > now else { return 0 }
        return lost.bytes
    }
}
