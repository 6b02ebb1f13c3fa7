// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Small images that were downloaded and are in no file yet: each is written once, by the publisher.
package final class HeldImages: Sendable {
    /// The most bytes of all of them.
    package static let limit = 64 << 20

    private struct State {
        var images: [String: [UInt8]] = [:]
        var bytes = 0
        var isClosed = false
    }

    private let state = Mutex(State())

    package init() {}

    /// Holds an image under a name that no other one has.
    ///
    /// - Returns: Whether it does: not beyond the limit, nor once it is closed.
    func hold(_ bytes: [UInt8], as name: String) -> Bool {
        state.withLock { state in
            guard !state.isClosed, state.bytes + bytes.count <= Self.limit else { return false }
            state.images[name] = bytes
            state.bytes += bytes.count
            return true
        }
    }

    /// Gives an image away; `nil` if it is not held.
    func take(_ name: String) -> [UInt8]? {
        state.withLock { state in
            guard let bytes = state.images.removeValue(forKey: name) else { return nil }
            state.bytes -= bytes.count
            return bytes
        }
    }

    /// Holds nothing more from here on: the file system has less room than it says (a quota), and what is written as it
    /// comes finds that out one by one.
    func close() {
        state.withLock { $0.isClosed = true }
    }
}
