// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
import AppLists
import CacheFormat
import Fleet
import Glibc
import IconCache
package import Logging
import Synchronization
package import SystemPackage

/// The app lists that the agent takes over from its upstreams, as property lists in the state folder.
///
/// Each upstream has a folder, named by its place in `upstream.urls` and its URL. The lists folder is read together with
/// them: of lists with one name, that in the lists folder counts, then that of the first upstream. What is on disk stays
/// in force while an upstream is down, also after a restart.
package final class AdoptedLists: Sendable {
    private static let folder = "upstream"
    /// The beginning of the name of a list that its manifest does not name yet: no app list is hidden.
    private static let stagedMark = "."

    package let root: FilePath
    private let identityKey: Mutex<String>
    private let logger: Logger
    /// The documents of the lists that were written in this run, by folder.
    private let written = Mutex<[String: [ListName: Digest]]>([:])

    package init(state: FilePath, _ settings: Settings, logger: Logger) {
        root = Self.root(inState: state)
        identityKey = Mutex("")
        self.logger = logger
        configure(settings)
    }

    package static func root(inState folder: FilePath) -> FilePath { folder.appending(Self.folder) }

    /// Renames the folders of the upstreams to their places, and removes the lists that are not taken over any more.
    func configure(_ settings: Settings) {
        identityKey.withLock { $0 = settings.lists.identityKeys.first ?? "id" }
        written.withLock { $0 = [:] }
        let settings = settings.upstream
        let wanted = settings.lists.isEmpty ? [] : settings.urls.enumerated().map { Self.name(of: $1, at: $0) }
        for name in Self.names(in: root) {
            let path = root.appending(name)
            guard let place = wanted.first(where: { Self.key(of: $0) == Self.key(of: name) }) else {
                for list in Self.names(in: path) { unlink(path.appending(list).string) }
                rmdir(path.string)
                continue
            }
            if place != name { rename(path.string, root.appending(place).string) }
            let folder = root.appending(place)
            for list in Self.names(in: folder) where !settings.lists.contains(where: { $0.matches(ListName(list)) }) {
                unlink(folder.appending(list).string)
            }
        }
    }

    /// Whether a list was written in this run as it is in this document.
    func has(_ name: ListName, _ document: Digest, of upstream: UpstreamURL, in settings: UpstreamSettings) -> Bool {
        written.withLock { $0[Self.name(of: upstream, in: settings)]?[name] == document }
    }

    /// Writes a list that its manifest may name; ``publish(_:of:in:)`` puts it in force.
    func stage(
        _ document: AppListDocument, _ digest: Digest, of upstream: UpstreamURL, in settings: UpstreamSettings
    ) throws(FileError) {
        let folder = root.appending(Self.name(of: upstream, in: settings))
        for path in [root, folder] where mkdir(path.string, 0o700) != 0 && errno != EEXIST {
            throw FileError("make", path.string, Errno(rawValue: errno))
        }
        let path = folder.appending(Self.stagedMark + digest.description)
        do {
            try Self.write(propertyList(of: document), to: path)
        } catch {
            throw FileError("write", path.string, error as? Errno ?? .ioError)
        }
    }

    /// Puts the lists of a manifest in force, and removes those that it does not name; returns whether any changed.
    func publish(_ lists: [ListName: Digest], of upstream: UpstreamURL, in settings: UpstreamSettings) -> Bool {
        let name = Self.name(of: upstream, in: settings)
        let folder = root.appending(name)
        var known = written.withLock { $0[name] ?? [:] }
        var hasChanged = false
        for (list, digest) in lists where known[list] != digest {
            let (staged, file) = (folder.appending(Self.stagedMark + digest.description), folder.appending(list.text))
            // After a start, most are there already; the time of a file is part of a list's document.
            if let new = try? FileBytes.read(staged), new == (try? FileBytes.read(file)) {
                unlink(staged.string)
                known[list] = digest
                continue
            }
            guard rename(staged.string, file.string) == 0 else {
                logger.warning(
                    "list of an upstream not taken over",
                    metadata: ["list": "\(list)", "reason": "\(Errno(rawValue: errno))"])
                continue
            }
            known[list] = digest
            hasChanged = true
        }
        for text in Self.names(in: folder) where lists[ListName(text)] == nil {
            hasChanged =
                unlink(folder.appending(text).string) == 0 && !text.starts(withBytes: Self.stagedMark) || hasChanged
        }
        written.withLock { [known] in $0[name] = known.filter { lists[$0.key] != nil } }
        return hasChanged
    }

    /// The list as a property list, with the URLs, names and identities of the document; always the same bytes.
    private func propertyList(of document: AppListDocument) -> [UInt8] {
        let key = identityKey.withLock(\.self)
        var text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><array>

            """
        for app in document.apps {
            text += "<dict>"
            for (key, value) in [
                ("icon", app.icon.text), ("name", app.name), ("download", app.download), (key, app.id),
            ] {
                if let value { text += "<key>\(Self.escaped(key))</key><string>\(Self.escaped(value))</string>" }
            }
            text += "</dict>\n"
        }
        return Array((text + "</array></plist>\n").utf8)
    }

    /// The text in XML, without what XML cannot have.
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
            // A list that a power loss emptied would retire its icons.
            guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
        }
    }

    private static func name(of upstream: UpstreamURL, in settings: UpstreamSettings) -> String {
        name(of: upstream, at: settings.urls.firstIndex(of: upstream) ?? 0)
    }

    private static func name(of upstream: UpstreamURL, at place: Int) -> String {
        "\(place)-\(Digest.of(upstream.description).description.prefix(bytes: 16))"
    }

    /// The part of a folder's name that stands for the URL.
    private static func key(of name: String) -> String { name.split(atByte: "-").last.map { "\($0)" } ?? "" }

    private static func names(in folder: FilePath) -> [String] {
        let descriptor = open(folder.string, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return [] }
        return ((try? FolderListing.names(in: descriptor)) ?? []).compactMap(\.name.text).sorted()
    }

    // MARK: Reading

    /// The lists that are taken over, each with the file that counts, in the order of the upstreams.
    ///
    /// - Throws: A ``FileError`` if they cannot be listed to the end: none may count as removed then.
    static func files(in root: FilePath) throws(FileError) -> [ListName: (path: FilePath, fingerprint: FileFingerprint)]
    {
        var files: [ListName: (path: FilePath, fingerprint: FileFingerprint)] = [:]
        for folder in try listed(root) {
            for text in try listed(root.appending(folder)) where ListName(text).isAppList {
                let path = root.appending(folder).appending(text)
                var status = stat()
                guard files[ListName(text)] == nil, lstat(path.string, &status) == 0, status.st_mode & S_IFMT == S_IFREG
                else { continue }
                files[ListName(text)] = (path, FileFingerprint(status))
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
