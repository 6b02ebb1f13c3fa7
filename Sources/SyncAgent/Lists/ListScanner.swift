// SPDX-License-Identifier: Apache-2.0
import IconCache
package import SyncPlan
package import SystemPackage

/// Looks at the lists folder, and reads the lists that are not as they were at the last look.
package struct ListScanner: Sendable {
    /// How many lists are parsed at once.
    private static let parsers = 2

    private let folder: ListFolder
    private let parser: ParseHelper
    private let maxBytes: ByteCount
    /// The files that were read, as they were then.
    private var known: [String: FileFingerprint] = [:]

    package init(folder: FilePath, parser: ParseHelper, maxBytes: ByteCount) {
        self.folder = ListFolder(folder)
        self.parser = parser
        self.maxBytes = maxBytes
    }

    /// Looks once.
    ///
    /// - Returns: What there is to tell, and whether a file was still being written, which is to be looked at again.
    package mutating func scan() async -> (scan: ListScan, isUnsettled: Bool) {
        let files: [String: FileFingerprint]
        do {
            files = try folder.list()
        } catch {
            return (.unavailable(reason: "\(error)"), false)
        }
        known = known.filter { files[$0.key] != nil }
        let changed = files.filter { known[$0.key] != $0.value }.keys.sorted()
        var readings: [String: ListReading] = [:]
        var isUnsettled = false
        for (name, result) in await read(changed, of: files) {
            switch result {
            case .read(let reading, let fingerprint):
                readings[name] = reading
                // What says nothing of the file is no reason not to try it again.
                if reading.verdict.isOfTheFile { known[name] = fingerprint }
            case .unsettled: isUnsettled = true
            }
        }
        return (.listed(present: Set(files.keys), changed: readings), isUnsettled)
    }

    private enum Result {
        case read(ListReading, FileFingerprint?)
        /// It changed while it was being read.
        case unsettled
    }

    private func read(_ names: [String], of files: [String: FileFingerprint]) async -> [(String, Result)] {
        await withTaskGroup(of: (String, Result).self) { group in
            var results: [(String, Result)] = []
            for (index, name) in names.enumerated() {
                if index >= Self.parsers, let result = await group.next() { results.append(result) }
                group.addTask { (name, await read(name, listed: files[name])) }
            }
            for await result in group { results.append(result) }
            return results
        }
    }

    private func read(_ name: String, listed: FileFingerprint?) async -> Result {
        do throws(ListRejection) {
            let file = try ListFile.open(folder.path.appending(name), maxBytes: maxBytes)
            defer { try? file.descriptor.close() }
            let contents = try ListFile.contents(of: file.descriptor, maxBytes: maxBytes)
            let verdict = await parser.parse(file.descriptor)
            // A file that is being written is no version of the list.
            guard try ListFile.fingerprint(of: file.descriptor) == file.fingerprint else { return .unsettled }
            let source = AppListDocument.Source(
                sha256: contents.sha256, bytes: contents.bytes,
                modified: Timestamp(sinceEpoch: file.fingerprint.modified))
            return .read(ListReading(source: source, verdict: verdict), file.fingerprint)
        } catch {
            return .read(ListReading(source: nil, verdict: .failure(error)), listed)
        }
    }
}
