// SPDX-License-Identifier: Apache-2.0
import AppLists
package import CacheFormat
package import SyncPlan
package import SystemPackage

/// Looks at the lists folder, and reads the lists that are not as they were at the last look.
package struct ListScanner: Sendable {
    /// How many lists are parsed at once.
    private static let parsers = 2
    /// How old a file's last change must be for its fingerprint to tell a later one: file systems count time in ticks.
    private static let tick: Duration = .milliseconds(50)
    /// How long a list may take before it has to wait for all others to be read.
    private static let patience: Duration = .seconds(2)
    /// For how long new lists are read before those that were are told: so many times what it takes to list the folder.
    private static let listings = 10

    private let folder: ListFolder
    private var parser: ParseHelper
    private var maxBytes: ByteCount
    /// What files are known to say that were not read yet.
    private var unread: [ListName: KnownList]
    /// The lists that an earlier run published, and those that were tried since.
    private var old: Set<ListName>
    /// For how long new lists are read, at least, before those that were are told.
    private let round: Duration
    /// The files that were read, as they were then.
    private var known: [ListName: Version] = [:]
    /// The files that are slow to parse, and not read yet.
    private var slow: Set<ListName> = []
    /// Whether these were left to this look because there were new ones at the last: there may be some at every look.
    private var hasPutOff = false

    private struct Version {
        var fingerprint: FileFingerprint
        /// What was in it; `nil` if it could not be read.
        var sha256: Digest?
    }

    /// What a look showed.
    package struct Look: Sendable {
        package var scan: ListScan
        /// The files that were still being written, which are to be looked at again.
        package var unsettled: Set<ListName> = []
        /// The files that are slow to parse, and are read at later looks.
        package var slow: Set<ListName> = []
        /// The new files that are read at the next look, which need not wait for anything.
        package var rest: Set<ListName> = []
        /// Why the agent had not the means to read some, which are to be read as soon as it has; `nil` if all were read.
        package var shortage: String?
        /// Why not all changes in the folder are told.
        package var trouble: WatchTrouble?
        /// How long it took to list it.
        package var cost = Duration.zero
    }

    /// - Parameters:
    ///   - folder: The lists folder.
    ///   - parser: What reads the lists in it.
    ///   - maxBytes: The largest file that is read.
    ///   - known: What an earlier run read: files that are as they were then are not parsed.
    ///   - old: The lists that it published.
    ///   - round: For how long new lists are read, at least, before those that were are told. The default is 100 ms.
    package init(
        folder: FilePath, parser: ParseHelper, maxBytes: ByteCount, known: [ListName: KnownList] = [:],
        old: Set<ListName> = [], round: Duration = .milliseconds(100)
    ) {
        self.old = old
        self.round = round
        self.folder = ListFolder(folder)
        self.parser = parser
        self.maxBytes = maxBytes
        unread = known
    }

    /// Has every list read anew, by other limits.
    mutating func read(with parser: ParseHelper, maxBytes: ByteCount) {
        (self.parser, self.maxBytes) = (parser, maxBytes)
        old.formUnion(known.keys)
        (known, unread, slow) = ([:], [:], [])
    }

    /// Looks once.
    ///
    /// When the task is cancelled, no other list is begun: what it showed by then is to be told to nobody.
    ///
    /// - Parameters:
    ///   - isHasty: Whether files that are slow to parse are left to later looks, and only as many to each as are
    ///     parsed at once: so that, however many there are, no other list waits for more than one of them.
    ///   - inRounds: Whether some of many new files are left to the next look, so that the icons of the first ones need not
    ///     wait for the last; not so of files that were read before: what a change retires is judged as a whole.
    ///   - isThorough: Whether the files that look as they did are read too. What is written through a mapping changes
    ///     nothing else of a file, until the system gets round to writing it to the disk (mmap(2)).
    /// - Returns: What there is to tell, and the files that are to be looked at again.
    package mutating func look(
        isHasty: Bool = false, inRounds: Bool = false, isThorough: Bool = false
    ) async -> Look {
        let start = ContinuousClock.now
        let listing: ListFolder.Listing
        do {
            listing = try await folder.list()
        } catch {
            return Look(scan: .unavailable(reason: "\(error)"))
        }
        let cost = ContinuousClock.now - start
        known = known.filter { listing.files[$0.key] != nil }
        // Lists that are gone for a moment are no new ones.
        if old.count > 2 * listing.files.count + 1000 { old = old.filter { listing.files[$0] != nil } }
        unread = unread.filter { listing.files[$0.key] != nil }
        var changed = listing.files.filter { $0.value == nil || known[$0.key]?.fingerprint != $0.value }.keys.sorted()
        if isThorough {
            for name in Set(known.keys).subtracting(changed).sorted() where await hasOtherContents(name) {
                changed.append(name)
            }
        }
        slow.formIntersection(changed)
        let late = slow.sorted().prefix(Self.parsers)
        var unsettled: Set<ListName> = []
        var readings: [ListName: ListReading] = [:]
        var shortage: String?
        let new = inRounds ? Set(changed.filter(isNew)).subtracting(slow) : []
        let timeout = isHasty ? Self.patience : nil
        var results = await read(changed.filter { !slow.contains($0) && !new.contains($0) }, within: timeout)
        let end = ContinuousClock.now + max(round, cost * Self.listings)
        results += await read(new.sorted(), within: timeout, until: end)
        let rest = new.subtracting(results.map(\.0))
        if new.isEmpty || rest.isEmpty && hasPutOff {
            results += await read(Array(late), within: nil)
            hasPutOff = false
        } else if rest.isEmpty {
            hasPutOff = !late.isEmpty
        }
        old.formUnion(results.map(\.0))
        for (name, result) in results {
            // What made it be looked at may show at this look only: what is not read now is unknown.
            known[name] = nil
            switch result {
            case .read(let reading, let fingerprint):
                readings[name] = reading
                unread[name] = nil
                slow.remove(name)
                // What says nothing of the file is no reason not to try it again.
                if reading.verdict.isOfTheFile {
                    known[name] = (fingerprint ?? listing.files[name] ?? nil)
                        .map { Version(fingerprint: $0, sha256: reading.source?.sha256) }
                }
            case .unsettled: unsettled.insert(name)
            case .slow: slow.insert(name)
            case .unread(let reason): shortage = reason
            }
        }
        for name in listing.illegible { readings[name] = ListReading(source: nil, verdict: .failure(.nameNotUTF8)) }
        var listed = listing.folder
        listed.shortage = shortage
        listed.hasUnread = !rest.isEmpty
        return Look(
            scan: .listed(listed, present: Set(listing.files.keys).union(listing.illegible), changed: readings),
            unsettled: unsettled, slow: slow, rest: rest, shortage: shortage, trouble: listing.trouble,
            cost: cost)
    }

    /// Whether no version of a list can be in force.
    private func isNew(_ name: ListName) -> Bool { unread[name] == nil && !old.contains(name) }

    /// Whether there is something else in a file than when it was read.
    private func hasOtherContents(_ name: ListName) async -> Bool {
        guard !Task.isCancelled, let sha256 = known[name]?.sha256,
            let (file, contents) = try? await folder.open(name, maxBytes: maxBytes)
        else { return false }
        _ = try? await folder.close(file)
        return contents.sha256 != sha256
    }

    private enum Result {
        case read(ListReading, FileFingerprint?)
        /// It changed while it was being read, or a moment before.
        case unsettled
        /// It was not parsed within the time that it was given.
        case slow
        /// The agent had not the means to read it.
        case unread(String)
    }

    private func read(
        _ names: [ListName], within timeout: Duration?, until end: ContinuousClock.Instant? = nil
    ) async -> [(ListName, Result)] {
        await withTaskGroup(of: (ListName, Result).self) { group in
            var results: [(ListName, Result)] = []
            for (index, name) in names.enumerated() {
                if let end, index > 0, .now >= end { break }
                if index >= Self.parsers, let result = await group.next() { results.append(result) }
                if Task.isCancelled { break }
                group.addTask { (name, await read(name, within: timeout)) }
            }
            for await result in group { results.append(result) }
            return results
        }
    }

    private func read(_ name: ListName, within timeout: Duration?) async -> Result {
        do throws(ListRejection) {
            let (file, contents) = try await folder.open(name, maxBytes: maxBytes)
            let age = AgentClock.wallTime.sinceEpoch - file.fingerprint.changed
            let verdict =
                if let known = unread[name], known.sha256 == contents.sha256 {
                    ListVerdict.success(known.list)
                } else {
                    await parser.parse(contents.bytes, within: timeout)
                }
            // A file that is being written is no version of the list.
            let isSame = try await folder.close(file)
            if case .failure(let rejection) = verdict, rejection.isOutOfResources { throw rejection }
            guard isSame, age < .zero || age >= Self.tick else { return .unsettled }
            if timeout != nil, verdict.isTimeout { return .slow }
            let source = AppListDocument.Source(
                sha256: contents.sha256, bytes: contents.bytes.count,
                modified: Timestamp(sinceEpoch: file.fingerprint.modified).inWholeSeconds)
            return .read(ListReading(source: source, verdict: verdict), file.fingerprint)
        } catch {
            if error.isOutOfResources { return .unread(error.message) }
            return .read(ListReading(source: nil, verdict: .failure(error)), nil)
        }
    }
}
