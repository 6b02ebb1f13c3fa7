// SPDX-License-Identifier: Apache-2.0
import Dispatch

/// Runs what waits for files on a thread that has nothing else to do.
func onThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue(label: "IconCacheTests.file").async { continuation.resume(with: Result(catching: body)) }
    }
}
