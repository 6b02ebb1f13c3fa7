// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import TestSupport

/// A file system of its own, in a file, on which the power can be cut.
struct Volume: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case ext4, xfs

        /// The size of the image, which takes up only what is written to it; xfs wants 300 MB.
        fileprivate var bytes: Int64 { self == .xfs ? 320 << 20 : 64 << 20 }
        fileprivate var quietly: String { self == .xfs ? "-q" : "-qF" }
        /// xfs mounts no copy of a file system while another process still has that.
        fileprivate var options: String { self == .xfs ? "loop,nouuid" : "loop" }
    }

    /// Where it is mounted.
    let path: FilePath
    private let kind: Kind
    private let image: FilePath

    /// Makes a volume, and mounts it.
    ///
    /// - Throws: ``Tool/Failure`` if this system has no such file system, or does not let us.
    init(_ kind: Kind, in folder: FilePath) async throws {
        guard geteuid() == 0 else { throw Tool.Failure(description: "only root mounts file systems") }
        self.kind = kind
        path = folder.appending("volume")
        image = folder.appending("image")
        try makeFolder(path)
        let file = try FileDescriptor.open(
            image, .readWrite, options: [.create, .closeOnExec], permissions: .ownerReadWrite)
        try file.closeAfter { try file.resize(to: kind.bytes) }
        try await Tool.run("mkfs.\(kind)", kind.quietly, image.string)
        try await mount()
    }

    private func mount() async throws {
        try await Tool.run("mount", "-o", kind.options, image.string, path.string)
    }

    /// Takes it off; waits for processes that are still ending.
    ///
    /// One that was just being started by an agent that was killed still has what the agent had open.
    func unmount() async throws {
        try await waitUntil {
            if umount2(path.string, 0) == 0 { return true }
            guard errno == EBUSY else { throw Errno(rawValue: errno) }
            return false
        }
    }

    /// Cuts the power, and puts it on again.
    func failPower() async throws {
        try cutPower()
        try await restorePower()
    }

    /// Mounts the volume anew, as after the power has failed: what is on the disk is put in order by its journal.
    ///
    /// A copy of it: the mount namespaces of other tests keep the file system that was shut down.
    func restorePower() async throws {
        try await unmount()
        let copy = image.string + ".copy"
        try await Tool.run("cp", "--sparse=always", image.string, copy)
        try await Tool.run("mv", copy, image.string)
        try await mount()
    }

    /// Has everything lost that is not on the disk at this moment; until the volume is mounted again, nothing gets there.
    func cutPower() throws {
        try withFolder { folder in
            // FS_IOC_SHUTDOWN with FS_SHUTDOWN_FLAGS_NOLOGFLUSH; xfs has it as XFS_IOC_GOINGDOWN.
            var flags: UInt32 = 2
            guard ioctl(folder.rawValue, 0x8004_587D, &flags) == 0 else { throw Errno(rawValue: errno) }
        }
    }

    /// Has the journal written, as it is every few seconds: names get to the disk, and what is in new files does not.
    func writeJournal() throws {
        try withFolder { folder in
            guard fsync(folder.rawValue) == 0 else { throw Errno(rawValue: errno) }
        }
    }

    /// Writes everything to the disk.
    func flush() async throws {
        try await Tool.run("sync", "-f", path.string)
    }

    private func withFolder(_ body: (FileDescriptor) throws -> Void) throws {
        let folder = try FileDescriptor.open(
            path.appending("cache"), .readOnly, options: [.directory, .closeOnExec])
        try folder.closeAfter { try body(folder) }
    }
}
