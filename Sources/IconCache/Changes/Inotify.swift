// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import SystemPackage

/// An inotify instance that reports new names in one folder.
///
/// The owner of an instance closes ``file``.
final class Inotify: Sendable {
    let file: FileDescriptor
    private let folder: FilePath
    /// The watch descriptor; `nil` if no folder is watched.
    private let watch = Mutex<CInt?>(nil)

    /// Creates an instance; `nil` if the kernel refuses, because each user has a limited number of them.
    init?(_ folder: FilePath) {
        let descriptor = inotify_init1(CInt(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        file = FileDescriptor(rawValue: descriptor)
        self.folder = folder
        renew()
    }

    /// Watches the folder that is at the path now; does nothing if it is watched already.
    func renew() {
        let mask = UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_ONLYDIR)
        let newest = folder.withPlatformString { inotify_add_watch(file.rawValue, $0, mask) }
        guard newest >= 0 else { return }
        watch.withLock { watch in
            if let old = watch, old != newest { inotify_rm_watch(file.rawValue, old) }
            watch = newest
        }
    }

    /// Discards all pending events.
    func drain() {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: MemoryLayout<inotify_event>.alignment) { buffer in
            while let count = try? file.read(into: buffer), count > 0 {}
        }
    }
}
