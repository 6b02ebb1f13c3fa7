// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import SystemPackage

/// An inotify instance for one folder: it tells that a name appeared there.
///
/// Whoever made it closes ``file``.
final class Inotify: Sendable {
    let file: FileDescriptor
    private let folder: FilePath
    /// The kernel's number of the watch; `nil` if there is none.
    private let watch = Mutex<CInt?>(nil)

    /// `nil` if the kernel refuses: there is a limit on instances for each user.
    init?(_ folder: FilePath) {
        let descriptor = inotify_init1(CInt(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        file = FileDescriptor(rawValue: descriptor)
        self.folder = folder
        renew()
    }

    /// Watches what is at the folder's path now; nothing happens if that is watched already.
    func renew() {
        let mask = UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_ONLYDIR)
        let newest = folder.withPlatformString { inotify_add_watch(file.rawValue, $0, mask) }
        guard newest >= 0 else { return }
        watch.withLock { watch in
            if let old = watch, old != newest { inotify_rm_watch(file.rawValue, old) }
            watch = newest
        }
    }

    /// Takes out all events there are.
    func drain() {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: MemoryLayout<inotify_event>.alignment) { buffer in
            while let count = try? file.read(into: buffer), count > 0 {}
        }
    }
}
