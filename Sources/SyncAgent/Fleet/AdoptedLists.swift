// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
import AppLists
import CLinux
package import CacheFormat
import Fleet
import Glibc
import IconCache
import SyncPlan
import Synchronization
package import SystemPackage

/// The app lists that the agent takes over from its upstreams, as property lists in the state folder.
///
/// Each upstream has a folder, named by its place in `upstream.urls` and its URL. These folders are read together with
/// the lists folder: among lists with the same name, the one in the lists folder wins, then that of the first upstream.
/// Beside them are the documents of each upstream, so that a restart requests none of them again.
///
/// Lists on disk stay in force while an upstream is down, also after a restart; those of an upstream that left the
/// settings, until all others have given theirs.
package final class AdoptedLists: Sendable {
    private static let folder = "upstream"
    /// The prefix of a list's file until its manifest is accepted: the names of app lists are not hidden.
    private static let stagedMark = "."
    private static let temporary = ".new"
    /// The prefix of the folder of an upstream that left the settings: its lists come last, since places end before 9.
    private static let formerMark = "9"
    private static let signedMark = "s"

    /// The settings that polls must have begun with, and the lists that they wrote; locked while files are written.
    private struct State {
        var upstream = UpstreamSettings()
        /// The digest of the document of each list in force, by the upstream's folder.
        var written: [String: [ListName: Digest]] = [:]

        /// Whether a poll began with the present settings.
        func accepts(_ other: UpstreamSettings) -> Bool {
            (upstream.urls, upstream.lists) == (other.urls, other.lists) && upstream.publicKeys == other.publicKeys
        }
    }

    package let root: FilePath
    private let state = Mutex(State())

    package init(state folder: FilePath, _ settings: Settings) {
        root = Self.root(inState: folder)
        configure(settings)
    }

    package static func root(inState folder: FilePath) -> FilePath { folder.appending(Self.folder) }

    /// Renames the folders of upstreams whose places changed, and removes lists that are no longer taken over.
    func configure(_ settings: Settings) {
        state.withLock { state in
            if !state.accepts(settings.upstream) { state.written = [:] }
            state.upstream = settings.upstream
            arrange(settings.upstream)
        }
    }

    private func arrange(_ settings: UpstreamSettings) {
        let wanted =
            settings.lists.isEmpty ? [] : settings.urls.enumerated().map { Self.name(of: $1, at: $0, in: settings) }
        let kept = Set(settings.urls.map(Self.documentsName))
        for name in Self.names(in: root) where !kept.contains(name) {
            let path = root.appending(name)
            let key = Self.key(of: name)
            let place = wanted.first { Self.key(of: $0) == key } ?? Self.formerName(of: name, in: settings)
            if let place, place == name || rename(path.string, root.appending(place).string) == 0 {
                let folder = root.appending(place)
                for list in Self.names(in: folder) where !settings.adopts(ListName(list)) {
                    unlink(folder.appending(list).string)
                }
            } else {
                Self.remove(path)
            }
        }
    }

    /// Whether a list is on disk in the version of this document, in force or staged.
    func has(_ name: ListName, _ document: Digest, of upstream: UpstreamURL, in settings: UpstreamSettings) -> Bool {
        let folder = Self.name(of: upstream, in: settings)
        let path = root.appending(folder)
        if access(path.appending(Self.stagedName(document)).string, F_OK) == 0 { return true }
        let isWritten = state.withLock { $0.written[folder]?[name] == document }
        return isWritten && access(path.appending(name.text).string, F_OK) == 0
    }

    /// A document that was kept; it may be damaged.
    func document(_ digest: Digest, of upstream: UpstreamURL) -> [UInt8]? {
        let path = "\(Self.folder)/\(Self.documentsName(of: upstream))/\(digest)"
        return try? CacheFolder(root.removingLastComponent()).read(path, upTo: Downloads.maxBytes.document)
    }

    /// Keeps a document for later runs of the agent, if there is room.
    func keep(_ document: [UInt8], _ digest: Digest, of upstream: UpstreamURL, in settings: UpstreamSettings) {
        state.withLock { state in
            guard state.accepts(settings), let folder = try? CacheFolder(root.removingLastComponent()),
                folder.space.map({ Self.hasRoom($0, for: document.count) }) == true
            else { return }
            let path = "\(Self.folder)/\(Self.documentsName(of: upstream))"
            let new = "\(path)/\(Self.temporary)"
            do throws(FileError) {
                for path in [Self.folder, path] { try folder.makeFolder(path, mode: .ownerReadWriteExecute) }
                try folder.discard(new)
                // Not flushed: the digest shows whether the file is whole.
                try folder.write(document, to: new, mode: .ownerReadWrite)
                try folder.rename(new, to: "\(path)/\(digest)")
            } catch {
                folder.remove(new)
            }
        }
    }

    /// Whether the database and the journal keep enough room beside a document of this many bytes.
    static func hasRoom(_ space: DiskSpace, for count: Int) -> Bool {
        [.percent(5), .bytes(.mebibytes(64))].allSatisfy { space.shortage(for: count, above: $0) == nil }
    }

    /// Removes staged lists and documents of earlier polls that the manifest does not name.
    func clean(keeping documents: Set<Digest>, of upstream: UpstreamURL, in settings: UpstreamSettings) {
        state.withLock { state in
            guard state.accepts(settings) else { return }
            let folder = root.appending(Self.name(of: upstream, in: settings))
            let kept = Set(documents.map(Self.stagedName))
            for name in Self.names(in: folder) where name.starts(withBytes: Self.stagedMark) && !kept.contains(name) {
                unlink(folder.appending(name).string)
            }
            let old = root.appending(Self.documentsName(of: upstream))
            let names = Set(documents.map(\.description))
            for name in Self.names(in: old) where !names.contains(name) { unlink(old.appending(name).string) }
        }
    }

    /// Stages a list of a manifest that is not accepted yet; ``publish(_:of:in:)`` puts it in force.
    func stage(
        _ document: AppListDocument, _ digest: Digest, of upstream: UpstreamURL, in settings: UpstreamSettings
    ) throws(FileError) {
        try state.withLock { state throws(FileError) in
            guard state.accepts(settings) else { return }
            let folder = root.appending(Self.name(of: upstream, in: settings))
            try Self.make([root, folder])
            let (path, staged) = (folder.appending(Self.temporary), folder.appending(Self.stagedName(digest)))
            do {
                try Self.write(Self.propertyList(of: document), to: path)
            } catch {
                throw FileError("write", path.string, error as? Errno ?? .ioError)
            }
            try FileError.check("rename", path.string, rename(path.string, staged.string))
        }
    }

    /// Puts the lists of a manifest in force, and removes the upstream's other lists.
    ///
    /// - Returns: Whether any list changed.
    /// - Throws: ``FileError`` if a list cannot be put in force: the manifest must be read again.
    func publish(
        _ lists: [ListName: Digest], of upstream: UpstreamURL, in settings: UpstreamSettings
    ) throws(FileError) -> Bool {
        try state.withLock { state throws(FileError) in
            guard state.accepts(settings) else { return false }
            let name = Self.name(of: upstream, in: settings)
            let (folder, next) = (root.appending(name), root.appending(Self.temporary))
            var known = state.written[name] ?? [:]
            var hasChanged = Self.names(in: folder).contains {
                !$0.starts(withBytes: Self.stagedMark) && lists[ListName($0)] == nil
            }
            var sources: [ListName: FilePath] = [:]
            for (list, digest) in lists {
                let (staged, file) = (folder.appending(Self.stagedName(digest)), folder.appending(list.text))
                sources[list] = file
                guard access(staged.string, F_OK) == 0 else { continue }
                known[list] = digest
                // After a start, most lists are in force already, and are left alone: the time of a file is part of its
                // list's document.
                if (try? FileBytes.read(staged)) != (try? FileBytes.read(file)) {
                    (sources[list], hasChanged) = (staged, true)
                }
            }
            if hasChanged { try Self.exchange(folder, next, for: sources) }
            state.written[name] = known.filter { lists[$0.key] != nil }
            if settings.urls.allSatisfy({ state.written[Self.name(of: $0, in: settings)] != nil }) {
                for former in Self.names(in: root) where former.starts(withBytes: Self.formerMark) {
                    Self.remove(root.appending(former))
                    hasChanged = true
                }
            }
            for text in Self.names(in: folder) where text.starts(withBytes: Self.stagedMark) {
                unlink(folder.appending(text).string)
            }
            return hasChanged
        }
    }

    /// Replaces a folder by a new one, atomically: a crash must not leave old lists beside new ones.
    private static func exchange(
        _ folder: FilePath, _ next: FilePath, for lists: [ListName: FilePath]
    ) throws(FileError) {
        remove(next)
        defer { remove(next) }
        try make([folder.removingLastComponent(), folder, next])
        for (list, source) in lists {
            try FileError.check("link", source.string, link(source.string, next.appending(list.text).string))
        }
        flush(next)
        try FileError.check("exchange", folder.string, exchange_names(folder.string, next.string))
        flush(folder.removingLastComponent())
    }

    private static func make(_ folders: [FilePath]) throws(FileError) {
        for path in folders where mkdir(path.string, 0o700) != 0 && errno != EEXIST {
            throw FileError("make", path.string, Errno(rawValue: errno))
        }
    }

    private static func remove(_ folder: FilePath) {
        for name in names(in: folder) { unlink(folder.appending(name).string) }
        rmdir(folder.string)
    }

    private static func flush(_ folder: FilePath) {
        let descriptor = open(folder.string, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    private static func stagedName(_ document: Digest) -> String { stagedMark + document.description }

    /// The list as a property list, with the URLs, names and identities of the document; always the same bytes.
    private static func propertyList(of document: AppListDocument) -> [UInt8] {
        var text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><array>

            """
        for app in document.apps {
            text += "<dict>"
            for (key, value) in [
                ("icon", app.icon.text), ("name", app.name), ("download", app.download),
                (ListLimits.adoptedIdentityKey, app.id),
            ] {
                if let value { text += "<key>\(key)</key><string>\(escaped(value))</string>" }
            }
            text += "</dict>\n"
        }
        return Array((text + "</array></plist>\n").utf8)
    }

    /// The text escaped for XML, without the characters that XML does not allow.
    private static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += "&amp;".utf8
            case UInt8(ascii: "<"): bytes += "&lt;".utf8
            case UInt8(ascii: ">"): bytes += "&gt;".utf8
            case UInt8(ascii: "\r"): bytes += "&#13;".utf8
            case 0..<0x20 where byte != UInt8(ascii: "\t") && byte != UInt8(ascii: "\n"): continue
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func write(_ bytes: [UInt8], to path: FilePath) throws {
        let file = try FileDescriptor.open(
            path, .writeOnly, options: [.create, .truncate, .closeOnExec, .noFollow], permissions: [.ownerReadWrite])
        try file.closeAfter {
            try file.writeAll(bytes)
            // Without the flush, a power failure could leave an empty list, which would retire its icons.
            guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
        }
    }

    /// The name of the folder of an upstream's documents, which has no lists.
    private static func documentsName(of upstream: UpstreamURL) -> String {
        stagedMark + Digest.of(upstream.description).description.prefix(bytes: 16)
    }

    private static func name(of upstream: UpstreamURL, in settings: UpstreamSettings) -> String {
        name(of: upstream, at: settings.urls.firstIndex(of: upstream) ?? 0, in: settings)
    }

    /// The name of an upstream's folder.
    ///
    /// Lists taken over without signatures are in another folder than signed ones, so that they do not count once
    /// signatures are required.
    private static func name(of upstream: UpstreamURL, at place: Int, in settings: UpstreamSettings) -> String {
        let (mark, suffix) = settings.publicKeys.isEmpty ? ("", "") : (signedMark, " signed")
        return "\(place)\(mark)-\(Digest.of(upstream.description + suffix).description.prefix(bytes: 16))"
    }

    /// The name of the folder of an upstream that left the settings; `nil` if its lists no longer count.
    private static func formerName(of name: String, in settings: UpstreamSettings) -> String? {
        let place = name.split(atByte: "-").first.map { "\($0)" } ?? ""
        guard !settings.urls.isEmpty, !settings.lists.isEmpty, !name.starts(withBytes: stagedMark),
            settings.publicKeys.isEmpty || place.ends(withBytes: signedMark)
        else { return nil }
        return place.starts(withBytes: formerMark) ? name : formerMark + name
    }

    /// The part of a folder's name that was computed from the URL.
    private static func key(of name: String) -> String { name.split(atByte: "-").last.map { "\($0)" } ?? "" }

    private static func names(in folder: FilePath) -> [String] { (try? listed(folder)) ?? [] }

    // MARK: Reading

    /// The file of a list that was taken over; `nil` if there is none, or this user may not see it.
    package static func file(of list: ListName, inState folder: FilePath) -> FilePath? {
        (try? files(in: root(inState: folder)))?[list]?.path
    }

    /// The lists that were taken over, each with the file of the first upstream that has it.
    ///
    /// - Throws: A ``FileError`` if they cannot be listed completely: then none may count as removed.
    static func files(in root: FilePath) throws(FileError) -> [ListName: (
        path: FilePath, fingerprint: FileFingerprint?
    )] {
        var files: [ListName: (path: FilePath, fingerprint: FileFingerprint?)] = [:]
        for folder in try listed(root) where !folder.starts(withBytes: stagedMark) {
            for text in try listed(root.appending(folder)) where ListName(text).isAppList {
                let path = root.appending(folder).appending(text)
                guard files[ListName(text)] == nil else { continue }
                var status = stat()
                if lstat(path.string, &status) == 0 {
                    if status.st_mode & S_IFMT == S_IFREG { files[ListName(text)] = (path, FileFingerprint(status)) }
                } else if errno != ENOENT {
                    files.updateValue((path, nil), forKey: ListName(text))
                }
            }
        }
        return files
    }

    private static func listed(_ folder: FilePath) throws(FileError) -> [String] {
        let descriptor = open(folder.string, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return [] }
            throw FileError("open", folder.string, Errno(rawValue: errno))
        }
        do throws(Errno) {
            return try FolderListing.names(in: descriptor).compactMap(\.name.text).sorted()
        } catch {
            throw FileError("list", folder.string, error)
        }
    }
}
