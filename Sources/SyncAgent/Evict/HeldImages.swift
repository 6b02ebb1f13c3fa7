// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Small images that were downloaded, and that no manifest names yet: each is written once, by the publisher.
///
/// Until then they are in memory. Where the publisher had the time to write one ahead of its publication, the file is
/// there under its last name, and is noted here until somebody answers for it.
package final class HeldImages: Sendable {
    /// The most bytes of all in memory.
    package static let limit = 64 << 20

    /// Where an image is.
    enum Place: Equatable {
        case memory([UInt8])
        /// In a file that was written ahead, at this path; `nil` if a publication has named the file meanwhile, or it is
        /// in another folder than the cache is in now.
        case file(String?)
    }

    private struct State {
        var images: [String: Place] = [:]
        /// The files that were written ahead, and that no publication has named.
        var files: Set<String> = []
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
            state.images[name] = .memory(bytes)
            state.bytes += bytes.count
            return true
        }
    }

    /// The bytes of an image that is in memory.
    func bytes(of name: String) -> [UInt8]? {
        state.withLock { state in
            guard case .memory(let bytes) = state.images[name] else { return nil }
            return bytes
        }
    }

    /// Notes that an image was written, and is in memory no more.
    func wrote(_ name: String, to path: String) {
        state.withLock { state in
            guard case .memory(let bytes) = state.images.updateValue(.file(path), forKey: name) else { return }
            state.bytes -= bytes.count
            state.files.insert(path)
        }
    }

    /// Notes that a publication names a file, whoever has written it.
    func name(_ path: String) {
        state.withLock { _ = $0.files.remove(path) }
    }

    /// Has nobody answer for the files that were written ahead: they are in another folder than the cache.
    func forgetFiles() {
        state.withLock { $0.files = [] }
    }

    /// Gives an image away, and the file that it may be in; `nil` if it is not held.
    func take(_ name: String) -> Place? {
        state.withLock { state in
            switch state.images.removeValue(forKey: name) {
            case .memory(let bytes):
                state.bytes -= bytes.count
                return .memory(bytes)
            case .file(let path): return .file(path.flatMap { state.files.remove($0) })
            case nil: return nil
            }
        }
    }

    /// Holds nothing more from here on: the file system has less room than it says (a quota), and what is written as it
    /// comes finds that out one by one.
    func close() {
        state.withLock { $0.isClosed = true }
    }
}
