// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import SystemPackage

/// Incomplete images in `staging/`: a file with the bytes received so far, and a record that describes it.
///
/// The record is written before the first byte and removed before the file: one without the other is meaningless, and
/// is removed at the next start.
struct Partials {
    private let folder: CacheFolder
    /// The files that a download can resume, by URL.
    private var kept: [IconURL: PartialDownload]

    init(_ folder: CacheFolder, kept: [PartialDownload]) {
        self.folder = folder
        self.kept = Dictionary(kept.map { ($0.url, $0) }) { a, _ in a }
    }

    subscript(url: IconURL) -> PartialDownload? { kept[url] }

    /// Begins an image, and discards an earlier partial of it.
    mutating func begin(_ partial: PartialDownload) throws(FileError) -> FileDescriptor {
        discard(partial.url)
        try folder.write(
            partial.record(boot: BootID.current ?? "").utf8, to: StagingPath.record(of: partial.file),
            mode: .ownerReadWrite)
        return try folder.create(StagingPath.of(partial.file), mode: CacheFolder.imageMode.union(.ownerWrite))
    }

    /// Reopens a partial file for appending.
    ///
    /// - Returns: `nil` if it is missing or has changed.
    mutating func resume(_ partial: PartialDownload) -> FileDescriptor? {
        let path = StagingPath.of(partial.file)
        guard kept.removeValue(forKey: partial.url) == partial,
            (try? folder.entry(path))?.size == Int64(partial.bytes)
        else { return nil }
        return try? folder.openToAppend(path)
    }

    /// Keeps a partial file, within the limit on all of them.
    mutating func keep(_ partial: PartialDownload, now: Timestamp) {
        kept[partial.url] = partial
        let rest = Set(PartialDownload.kept(of: kept.values, at: now).map(\.url))
        for url in kept.keys where !rest.contains(url) { discard(url) }
    }

    /// Removes the partial file of a URL.
    mutating func discard(_ url: IconURL) {
        kept[url] = nil
        remove(PartialDownload.file(of: url))
    }

    /// Turns a complete file into a staged image with another name.
    func finish(_ name: String, as newName: String) throws(FileError) {
        let path = StagingPath.of(name)
        try folder.makeReadOnly(path)
        try folder.rename(path, to: StagingPath.of(newName))
        folder.remove(StagingPath.record(of: name))
    }

    func remove(_ name: String) {
        folder.remove(StagingPath.record(of: name))
        folder.remove(StagingPath.of(name))
    }

    // MARK: Start-up

    /// Removes all files of agents from `staging/` except partial files that a download can resume.
    static func clearStaging(of folder: CacheFolder) throws(FileError) -> [PartialDownload] {
        let names = Set(try folder.names(in: CacheLayout.staging).map(\.name))
        let partials = PartialDownload.kept(of: names.compactMap { read($0, in: folder) }, at: AgentClock.wallTime)
        let files = partials.map(\.file)
        for name in names.subtracting(files + files.map(PartialDownload.record)) where StagingPath.isOwn(name) {
            if let error = folder.remove(StagingPath.of(name)) { throw error }
        }
        return partials
    }

    /// Reads a record; `nil` if it is not one, or its file cannot be resumed.
    private static func read(_ name: String, in folder: CacheFolder) -> PartialDownload? {
        guard let boot = BootID.current, let file = PartialDownload.file(ofRecord: name),
            let entry = try? folder.entry(StagingPath.of(file)), entry.isOwn,
            let record = try? folder.read(StagingPath.of(name)),
            let partial = PartialDownload(record: record, boot: boot, bytes: Int(entry.size)), partial.file == file
        else { return nil }
        return partial
    }
}

enum StagingPath {
    static func of(_ name: String) -> String { "\(CacheLayout.staging)/\(name)" }

    /// Whether a name has the form of an agent's files: a number, the digest of a URL, or a temporary name.
    static func isOwn(_ name: String) -> Bool {
        let temporary = ["inspection", "inspection-2", "manifest", "name", "publication", "recovery", "trial"]
        let stem = name.split(atByte: ".", omittingEmpty: false)[0]
        return Int(name) != nil || temporary.contains(name) || Digest(hex: stem) != nil
    }

    static func record(of name: String) -> String { of(PartialDownload.record(ofFile: name)) }
}
