// SPDX-License-Identifier: Apache-2.0
import IconCache
package import SyncPlan
package import SystemPackage

/// Looks at the lists folder, and reads the lists that are not as they were at the last look.
package struct ListScanner: Sendable {
    /// How many lists are parsed at once.
    private static let parsers = 2
    /// How old a file's last change must be for its fingerprint to tell a later one: file systems count time in ticks.
    private static let tick: Duration = .milliseconds(50)

    private let folder: ListFolder
    private let parser: ParseHelper
    private let maxBytes: ByteCount
    /// The files that were read, as they were then.
    private var known: [String: FileFingerprint] = [:]
    /// The file system that the folder was on at the last look.
    private var device: UInt64?

    package init(folder: FilePath, parser: ParseHelper, maxBytes: ByteCount) {
        self.folder = ListFolder(folder)
        self.parser = parser
        self.maxBytes = maxBytes
    }

    /// Looks once.
    ///
    /// - Returns: What there is to tell, and the files that were still being written, which are to be looked at again.
    package mutating func scan() async -> (scan: ListScan, unsettled: Set<String>) {
        let listing: ListFolder.Listing
        do {
            listing = try await folder.list()
        } catch {
            return (.unavailable(reason: "\(error)"), [])
        }
        if let device, device != listing.device, listing.files.isEmpty {
            return (.unavailable(reason: "\(folder.path) is empty, and on another file system than before"), [])
        }
        device = listing.device
        known = known.filter { listing.files[$0.key] != nil }
        let changed = listing.files.filter { $0.value == nil || known[$0.key] != $0.value }.keys.sorted()
        var readings: [String: ListReading] = [:]
        var unsettled: Set<String> = []
        for (name, result) in await read(changed) {
            switch result {
            case .read(let reading, let fingerprint):
                readings[name] = reading
                // What says nothing of the file is no reason not to try it again.
                known[name] = reading.verdict.isOfTheFile ? fingerprint ?? listing.files[name] ?? nil : nil
            case .unsettled: unsettled.insert(name)
            }
        }
        return (.listed(present: Set(listing.files.keys), changed: readings), unsettled)
    }

    private enum Result {
        case read(ListReading, FileFingerprint?)
        /// It changed while it was being read, or a moment before.
        case unsettled
    }

    private func read(_ names: [String]) async -> [(String, Result)] {
        await withTaskGroup(of: (String, Result).self) { group in
            var results: [(String, Result)] = []
            for (index, name) in names.enumerated() {
                if index >= Self.parsers, let result = await group.next() { results.append(result) }
                group.addTask { (name, await read(name)) }
            }
            for await result in group { results.append(result) }
            return results
        }
    }

    private func read(_ name: String) async -> Result {
        do throws(ListRejection) {
            let (file, contents) = try await folder.open(name, maxBytes: maxBytes)
            let age = AgentClock.wallTime.sinceEpoch - file.fingerprint.changed
            let verdict = await parser.parse(file.descriptor)
            // A file that is being written is no version of the list.
            let isSame = try await folder.close(file)
            guard isSame, age < .zero || age >= Self.tick else { return .unsettled }
            let source = AppListDocument.Source(
                sha256: contents.sha256, bytes: contents.bytes,
                modified: Timestamp(sinceEpoch: file.fingerprint.modified).inWholeSeconds)
            return .read(ListReading(source: source, verdict: verdict), file.fingerprint)
        } catch {
            return .read(ListReading(source: nil, verdict: .failure(error)), nil)
        }
    }
}
