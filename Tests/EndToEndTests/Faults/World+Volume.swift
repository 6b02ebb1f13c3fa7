// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

extension World {
    /// Makes a world whose agent has its cache on a volume, and takes both away at the end.
    ///
    /// Its state is there too only if asked for: what that flushes could flush what the cache does not.
    static func with(
        _ kind: Volume.Kind, state: Bool = false,
        _ body: @escaping @Sendable (World, Volume) async throws -> Void
    ) async throws {
        try await World.with { world in
            let volume: Volume
            do {
                volume = try await Volume(kind, in: world.folder)
            } catch let failure as Tool.Failure {
                // A case that is cancelled goes by without a word.
                print("Skipped: no volume with \(kind): \(failure)")
                try Test.cancel("no volume with \(kind): \(failure)")
            }
            do {
                for name in state ? ["cache", "state"] : ["cache"] {
                    try #require(symlink("volume/\(name)", world.folder.appending(name).string) == 0)
                }
                try await world.empty(volume)
                try await body(world, volume)
            } catch {
                try? await volume.unmount()
                throw error
            }
            try await volume.unmount()
        }
    }

    /// Takes everything off the volume, for good.
    func empty(_ volume: Volume) async throws {
        for name in ["cache", "state"] {
            try await Tool.run("rm", "-rf", volume.path.appending(name).string)
            try makeFolder(volume.path.appending(name))
        }
        try await volume.flush()
    }
}
