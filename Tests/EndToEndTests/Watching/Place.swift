// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import TestSupport

@testable import SyncAgentCLI

/// Where a lists folder can be.
enum Place: String, CaseIterable, Sendable {
    case folder
    case ext4
    case tmpfs
    case bind = "bind mount"
    case overlay = "overlayfs"

    /// Whether every way to save a list is tried there, not just the typical ones.
    var hasAllPatterns: Bool { self == .folder || self == .ext4 }

    /// Runs the body with such a place in a folder.
    ///
    /// - Parameters:
    ///   - folder: Where everything that the place needs is put.
    ///   - body: Called with the place's own folder, which is empty.
    /// - Returns: What the body returns, or `nil` if this system has no such place, or does not let us make it: then a message
    ///   is printed.
    /// - Throws: What the body throws.
    func made<R>(in folder: FilePath, _ body: (FilePath) async throws -> R) async throws -> R? {
        let path: FilePath
        let undo: [FilePath]
        do {
            (path, undo) = try await make(in: folder)
        } catch let failure as Tool.Failure {
            print("Skipped: no \(rawValue): \(failure)")
            return nil
        }
        defer { for mountPoint in undo { umount2(mountPoint.string, Int32(MNT_DETACH)) } }
        return try await body(path)
    }

    /// - Returns: The place, and what is to be unmounted at the end.
    private func make(in folder: FilePath) async throws -> (FilePath, undo: [FilePath]) {
        let path = folder.appending("place")
        switch self {
        case .folder:
            try makeFolder(path)
            return (path, [])
        case .ext4:
            let volume = try await Volume(.ext4, in: folder)
            return (volume.path, [volume.path])
        case .tmpfs:
            try makeFolder(path)
            try await Tool.run("mount", "-t", "tmpfs", "tmpfs", path.string)
            return (path, [path])
        case .bind:
            let source = folder.appending("source")
            for path in [path, source] { try makeFolder(path) }
            try await Tool.run("mount", "--bind", source.string, path.string)
            return (path, [path])
        case .overlay:
            // Its upper layer cannot be on another overlayfs.
            let layers = folder.appending("layers")
            for path in [path, layers] { try makeFolder(path) }
            try await Tool.run("mount", "-t", "tmpfs", "tmpfs", layers.string)
            do {
                for layer in ["lower", "upper", "work"] { try makeFolder(layers.appending(layer)) }
                let options = ["lower", "upper", "work"].map { "\($0)dir=\(layers)/\($0)" }.joined(separator: ",")
                try await Tool.run("mount", "-t", "overlay", "-o", options, "overlay", path.string)
            } catch {
                umount2(layers.string, Int32(MNT_DETACH))
                throw error
            }
            return (path, [path, layers])
        }
    }
}
