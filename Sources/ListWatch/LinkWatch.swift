// SPDX-License-Identifier: GPL-2.0-only
import Glibc

/// The symbolic links on the way to the folder: one of them that is made to lead elsewhere changes nothing in the folder.
struct LinkWatch {
    /// What becomes readable when a name is made, moved or removed beside one of the links; −1, of which poll(2) tells
    /// nothing, if there is no link, or no more can be watched.
    let descriptor: Int32

    init(path: String) {
        let folders = Self.foldersOfLinks(along: path)
        descriptor = folders.isEmpty ? -1 : inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard descriptor >= 0 else { return }
        let mask = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR
        for folder in folders { inotify_add_watch(descriptor, folder, UInt32(mask)) }
    }

    /// Takes the events that are there; what they tell of is looked at.
    func drain() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while read(descriptor, &bytes, bytes.count) > 0 {}
    }

    /// The folders that have a symbolic link in them which a path leads through (path_resolution(7)).
    static func foldersOfLinks(along path: String) -> Set<String> {
        var folders: Set<String> = []
        var ahead = path.split(separator: "/").map(String.init)
        var behind = path.hasPrefix("/") ? "/" : "."
        // As many as the kernel follows.
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
            if text.hasPrefix("/") { behind = "/" }
            ahead = text.split(separator: "/").map(String.init) + ahead
        }
        return folders
    }
}
