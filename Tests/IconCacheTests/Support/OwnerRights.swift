// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport

/// What the owner of files may do, and root.
enum OwnerRights {
    /// Runs the body as somebody who may read a folder and everything in it, but write nothing.
    ///
    /// The whole process is somebody else meanwhile: it should have nothing else to do.
    static func without(on folder: FilePath, _ body: () throws -> Void) throws {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.string)
        let paths = [folder] + names.map { folder.pushing(FilePath($0)) }
        for path in paths { try check(chmod(path.string, path.stat().type == .directory ? 0o555 : 0o444)) }
        defer { for path in paths { chmod(path.string, 0o755) } }
        let user = geteuid()
        // To root, permissions mean nothing.
        if user == 0 { try check(seteuid(65534)) }
        defer { if user == 0 { seteuid(user) } }
        try body()
    }
}
