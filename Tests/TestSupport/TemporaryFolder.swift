// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
package import SystemPackage

/// Runs the body with a folder of its own, which is removed at the end with all that is in it.
///
/// - Throws: What the body throws, or `Errno` if the folder cannot be made.
package func withTemporaryFolder<R>(_ body: (FilePath) async throws -> R) async throws -> R {
    var template = Array("\(FileManager.default.temporaryDirectory.path)/syncagent-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Errno(rawValue: errno) }
    let folder = FilePath(platformString: template)
    defer { try? FileManager.default.removeItem(atPath: folder.string) }
    return try await body(folder)
}
