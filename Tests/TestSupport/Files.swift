// SPDX-License-Identifier: Apache-2.0
import Glibc
package import SystemPackage

/// Throws what `errno` says if a C call failed.
package func check(_ result: CInt) throws(Errno) {
    guard result == 0 else { throw Errno(rawValue: errno) }
}

/// Makes a folder.
///
/// - Throws: `Errno` if it is there already, or cannot be made.
package func makeFolder(_ path: FilePath) throws(Errno) {
    try check(mkdir(path.string, 0o755))
}

/// Writes a file in place: whoever has it open sees the new bytes.
package func write(
    _ bytes: some Sequence<UInt8>, to path: FilePath,
    mode: FilePermissions = [.ownerReadWrite, .groupRead, .otherRead]
) throws {
    let file = try FileDescriptor.open(
        path, .writeOnly, options: [.create, .truncate, .closeOnExec], permissions: mode)
    try file.closeAfter { _ = try file.writeAll(bytes) }
}

/// Writes a file in place.
package func write(_ text: String, to path: FilePath) throws {
    try write(text.utf8, to: path)
}

/// Makes a shell script that can be run.
///
/// - Returns: Its path: it is called `script`.
package func makeScript(_ lines: String, in folder: FilePath, shell: String = "/bin/sh") throws -> FilePath {
    let script = folder.appending("script")
    try write("#!\(shell)\n\(lines)\n".utf8, to: script, mode: [.ownerReadWriteExecute, .groupReadExecute])
    return script
}

extension FilePath {
    /// Gives a file or a folder another name.
    package func move(to other: FilePath) throws(Errno) {
        try check(rename(string, other.string))
    }
}
