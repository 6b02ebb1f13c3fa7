// SPDX-License-Identifier: GPL-2.0-only
import Glibc

/// Watches the symbolic links in the folder's path: changing one causes no event in the folder itself.
struct LinkWatch {
    /// Readable when a name beside one of the links is created, moved or removed; −1, which poll(2) ignores, if there
    /// is no link or none can be watched.
    let descriptor: Int32

    init(path: String) {
        let folders = Self.foldersOfLinks(along: path)
        descriptor = folders.isEmpty ? -1 : inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard descriptor >= 0 else { return }
        let mask = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR
        for folder in folders { inotify_add_watch(descriptor, folder, UInt32(mask)) }
    }

    /// Discards pending events: the caller checks the path itself.
    func drain() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while read(descriptor, &bytes, bytes.count) > 0 {}
    }

    /// The parent folders of all symbolic links in a path (path_resolution(7)).
    static func foldersOfLinks(along path: String) -> Set<String> {
        var folders: Set<String> = []
        var ahead = names(in: path)
        var behind = path.utf8.first == UInt8(ascii: "/") ? "/" : "."
        // The kernel follows at most 40.
        var links = 0
        while !ahead.isEmpty, links < 40 {
            let next = behind == "/" ? "/\(ahead.removeFirst())" : "\(behind)/\(ahead.removeFirst())"
            var target = [CChar](repeating: 0, count: Int(PATH_MAX))
            let length = readlink(next, &target, target.count)
            guard length >= 0 else {
                behind = next
                continue
            }
            links += 1
            folders.insert(behind)
            let text = String(decoding: target.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text.utf8.first == UInt8(ascii: "/") { behind = "/" }
            ahead = names(in: text) + ahead
        }
        return folders
    }

    /// Splits by bytes: a combining mark at the start of a name must not attach to the slash.
    private static func names(in path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
    }
}
