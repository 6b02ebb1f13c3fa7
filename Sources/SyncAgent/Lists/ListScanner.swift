// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat
package import SyncPlan
package import SystemPackage

/// Scans the lists folder, and reads the lists that changed since the last scan.
package struct ListScanner: Sendable {
    /// The number of lists parsed at once.
    private static let parsers = 2
    /// The minimum age of a file's last change for a later change to show: file system timestamps have coarse ticks.
    private static let tick: Duration = .milliseconds(50)
    /// The parse time after which a list is deferred until all others are read.
    private static let patience: Duration = .seconds(2)
    /// How long new lists are read before they are reported, as a multiple of the time to list the folder.
    private static let listings = 10

    private let folder: ListFolder
    private var parser: ParseHelper
    private var maxBytes: ByteCount
    /// The known contents of files that were not read yet.
    private var unread: [ListName: KnownList]
    /// The names of lists published by an earlier run, and of lists read since.
    private var old: Set<ListName>
    /// The minimum time for which new lists are read before they are reported.
    private let round: Duration
    /// The last version of each list's file that was read.
    private var known: [ListName: Version] = [:]
    /// The contents of files that were being written, and since when they have not changed: a program may set a file's
    /// times again and again.
    private var restless: [ListName: (contents: Digest, since: ContinuousClock.Instant)] = [:]
    /// The files that parse slowly and are not read yet.
    private var slow: Set<ListName> = []
    /// Whether the last scan deferred slow files in favour of new ones; this scan must not: there may be new ones
    /// forever.
    private var hasPutOff = false

    private struct Version {
        /// The fingerprint; `nil` if the file was changing while it was read, so that the next scan reads it again.
        var fingerprint: FileFingerprint?
        /// The digest of the contents; `nil` if they could not be read.
        var sha256: Digest?
        /// Whether its parser failed: a thorough scan reads it again.
        var isDoubtful: Bool
    }

    /// The result of a scan, and what the next one has to do.
    package struct Outcome: Sendable {
        package var scan: ListScan
        /// The files that were being written; they must be scanned again.
        package var unsettled: Set<ListName> = []
        /// The files that parse slowly, to be read in later scans.
        package var slow: Set<ListName> = []
        /// The new files left for the next scan, which should follow at once.
        package var rest: Set<ListName> = []
        /// The reason why the agent lacked the resources to read some files, which must be retried; `nil` if all were
        /// read.
        package var shortage: String?
        /// The reason why some changes in the folder are not reported.
        package var trouble: WatchTrouble?
        /// The time that listing the folder took.
        package var cost = Duration.zero
    }

    /// Creates a scanner of the lists folder, and of the lists taken over from upstreams in `adopted`.
    ///
    /// `known` are lists that an earlier run read, and are not parsed again if the contents are the same; `old` are
    /// lists that it published. New lists are read for at least `round`, 100 ms by default, before they are reported.
    package init(
        folder: FilePath, adopted: FilePath? = nil, parser: ParseHelper, maxBytes: ByteCount,
        known: [ListName: KnownList] = [:],
        old: Set<ListName> = [], round: Duration = .milliseconds(100)
    ) {
        self.old = old
        self.round = round
        self.folder = ListFolder(folder, adopted: adopted)
        self.parser = parser
        self.maxBytes = maxBytes
        unread = known
    }

    /// Applies other limits, and makes the next scan read every list again.
    mutating func read(with parser: ParseHelper, maxBytes: ByteCount) {
        (self.parser, self.maxBytes) = (parser, maxBytes)
        old.formUnion(known.keys)
        (known, unread, slow) = ([:], [:], [])
    }

    /// Scans the folder once.
    ///
    /// After its task is cancelled, a scan reads no further list; the caller must discard its result.
    ///
    /// - Parameters:
    ///   - isHasty: Whether to defer files that parse slowly to later scans. Each of these reads as many as are parsed
    ///     at once, so other lists wait for one slow file at most.
    ///   - inRounds: Whether to leave some of many new files to the next scan, so that the icons of the first files
    ///     need not wait for the last. Changed files are never left: icons retired by a change are decided on together.
    ///   - isThorough: Whether to read files with an unchanged fingerprint, too: a write through a shared mapping
    ///     changes no timestamp until the system writes it back (mmap(2)), and a parser may have failed for lack of
    ///     memory.
    /// - Returns: The scan to report, and the files to be scanned again.
    package mutating func scan(
        isHasty: Bool = false, inRounds: Bool = false, isThorough: Bool = false
    ) async -> Outcome {
        let start = ContinuousClock.now
        let listing: ListFolder.Listing
        do {
            listing = try await folder.list()
        } catch {
            return Outcome(scan: .unavailable(reason: "\(error)"))
        }
        let cost = ContinuousClock.now - start
        known = known.filter { listing.files[$0.key] != nil && !(isThorough && $0.value.isDoubtful) }
        // A list that is missing only for a moment is not new when it returns.
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
        restless = restless.filter { listing.files[$0.key] != nil }
        for (name, result) in results {
            let restless = self.restless.removeValue(forKey: name)
            if case .same(let fingerprint) = result {
                known[name]?.fingerprint = fingerprint
                continue
            }
            // The change that triggered this read may show in this scan only: if the read fails, the next scan must
            // read the file again.
            known[name] = nil
            switch result {
            case .same: break
            case .read(let reading, let fingerprint, let isStable):
                readings[name] = reading
                unread[name] = nil
                slow.remove(name)
                // A verdict on something else than the file, such as a missing parser, is retried.
                if reading.verdict.isOfTheFile {
                    known[name] = (fingerprint ?? listing.files[name] ?? nil)
                        .map {
                            Version(
                                fingerprint: isStable ? $0 : nil, sha256: reading.source?.sha256,
                                isDoubtful: reading.verdict.isDoubtful)
                        }
                }
            case .unsettled(let contents):
                unsettled.insert(name)
                self.restless[name] = restless?.contents == contents ? restless : (contents, .now)
            case .slow: slow.insert(name)
            case .unread(let reason): shortage = reason
            }
        }
        for name in listing.illegible { readings[name] = ListReading(source: nil, verdict: .failure(.nameNotUTF8)) }
        var listed = listing.folder
        listed.shortage = shortage
        listed.hasUnread = !rest.isEmpty
        return Outcome(
            scan: .listed(listed, present: Set(listing.files.keys).union(listing.illegible), changed: readings),
            unsettled: unsettled, slow: slow, rest: rest, shortage: shortage, trouble: listing.trouble,
            cost: cost)
    }

    /// Whether no version of a list can be in force.
    private func isNew(_ name: ListName) -> Bool { unread[name] == nil && !old.contains(name) }

    /// Whether the contents of a file changed since it was read, or cannot be read now.
    private func hasOtherContents(_ name: ListName) async -> Bool {
        guard !Task.isCancelled, let sha256 = known[name]?.sha256 else { return false }
        guard let (file, contents) = try? await folder.open(name, maxBytes: maxBytes) else { return true }
        _ = try? await folder.close(file)
        return contents.sha256 != sha256
    }

    private enum Result {
        case read(ListReading, FileFingerprint?, isStable: Bool)
        /// The file has the contents read before; with its fingerprint, unless the file changed during the read or just
        /// before.
        case same(FileFingerprint?)
        /// The file changed during the read or just before, and had contents with this digest.
        case unsettled(Digest)
        /// Parsing timed out.
        case slow
        /// The agent lacked the resources to read the file.
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
            let isOld = age < .zero || age >= Self.tick
            if known[name]?.sha256 == contents.sha256 {
                return .same(try await folder.close(file) && isOld ? file.fingerprint : nil)
            }
            let restless = restless[name]
            // The file is being written.
            if !isOld, let restless, restless.contents != contents.sha256 {
                _ = try await folder.close(file)
                return .unsettled(contents.sha256)
            }
            let verdict =
                if let known = unread[name], known.sha256 == contents.sha256 {
                    ListVerdict.success(known.list)
                } else {
                    await (folder.isAdopted(name) ? parser.ofAdopted : parser).parse(contents.bytes, within: timeout)
                }
            let isSame = try await folder.close(file)
            if case .failure(let rejection) = verdict, rejection.isOutOfResources { throw rejection }
            // A file that is being written is not a version of the list, unless its contents stay the same.
            let isStable = isSame && isOld
            if !isStable {
                let (again, now) = try await folder.open(name, maxBytes: maxBytes)
                _ = try await folder.close(again)
                guard let restless, restless.contents == contents.sha256, now.sha256 == contents.sha256,
                    ContinuousClock.now - restless.since >= Self.tick
                else { return .unsettled(now.sha256) }
            }
            if timeout != nil, verdict.isTimeout { return .slow }
            let source = AppListDocument.Source(
                sha256: contents.sha256, bytes: contents.bytes.count,
                modified: Timestamp(sinceEpoch: file.fingerprint.modified).inWholeSeconds)
            return .read(ListReading(source: source, verdict: verdict), file.fingerprint, isStable: isStable)
        } catch {
            if error.isOutOfResources { return .unread(error.message) }
            return .read(ListReading(source: nil, verdict: .failure(error)), nil, isStable: true)
        }
    }
}
