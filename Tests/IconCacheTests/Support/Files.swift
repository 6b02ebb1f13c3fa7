// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import SystemPackage

/// Throws what `errno` says if a C call failed.
func check(_ result: CInt) throws(Errno) {
    guard result == 0 else { throw Errno(rawValue: errno) }
}

/// Writes a file anew; whoever has it open sees the new bytes.
func write(_ text: String, to path: FilePath) throws {
    let file = try FileDescriptor.open(
        path, .writeOnly, options: [.create, .truncate, .closeOnExec],
        permissions: [.ownerReadWrite, .groupRead, .otherRead])
    try file.closeAfter { _ = try file.writeAll(text.utf8) }
}

/// Waits for what is about to happen on another thread; the time limit of the test is the guard.
func until(_ isDone: () throws -> Bool) async throws {
    while try !isDone() {
        try Task.checkCancellation()
        await Task.yield()
    }
}

/// Runs what waits for files on a thread that has nothing else to do.
func onThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue(label: "IconCacheTests.file").async { continuation.resume(with: Result(catching: body)) }
    }
}
