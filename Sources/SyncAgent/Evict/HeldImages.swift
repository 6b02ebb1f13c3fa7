// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Synchronization

/// Small downloaded images that no manifest names yet; the publisher writes each one once.
///
/// They stay in memory until then. If the publisher wrote one ahead of its publication, the file already has its final
/// name and is recorded here until a publication names it.
package final class HeldImages: Sendable {
    /// The limit on the bytes in memory.
    package static let limit = 64 << 20

    enum Place: Equatable {
        case memory([UInt8])
        /// In a file that was written ahead, at this path; `nil` if a publication has named the file since, or the
        /// cache folder was replaced.
        case file(String?)
    }

    private struct State {
        var images: [String: Place] = [:]
        /// The files written ahead that no publication has named.
        var files: Set<String> = []
        /// The URLs that have a name ahead of the publication, by the name of the staged image.
        var urls: [String: IconURL] = [:]
        var bytes = 0
        var isClosed = false
    }

    private let state = Mutex(State())

    package init() {}

    /// Keeps an image in memory under a unique name.
    ///
    /// - Returns: `false` if that would exceed the limit, or after ``close()``.
    func hold(_ bytes: [UInt8], as name: String) -> Bool {
        state.withLock { state in
            guard !state.isClosed, state.bytes + bytes.count <= Self.limit else { return false }
            state.images[name] = .memory(bytes)
            state.bytes += bytes.count
            return true
        }
    }

    /// The bytes of an image in memory.
    func bytes(of name: String) -> [UInt8]? {
        state.withLock { state in
            guard case .memory(let bytes) = state.images[name] else { return nil }
            return bytes
        }
    }

    /// Records that an image was written, and drops it from memory.
    func wrote(_ name: String, to path: String) {
        state.withLock { state in
            guard case .memory(let bytes) = state.images.updateValue(.file(path), forKey: name) else { return }
            state.bytes -= bytes.count
            state.files.insert(path)
        }
    }

    /// Records that a publication names a file, whoever wrote it.
    func name(_ path: String) {
        state.withLock { _ = $0.files.remove(path) }
    }

    /// Forgets files written ahead: they are not in the current cache folder.
    func forgetFiles() {
        state.withLock { ($0.files, $0.urls) = ([], [:]) }
    }

    /// Records that a URL got its name in `by-url/`, which leads to a file written ahead.
    func recordName(of name: String, _ url: IconURL) {
        state.withLock { $0.urls[name] = url }
    }

    /// Removes and returns the URL that got its name ahead; `nil` if none did.
    func removeName(of name: String) -> IconURL? {
        state.withLock { $0.urls.removeValue(forKey: name) }
    }

    /// Forgets the names of these URLs, which a publication sets; returns those that had one.
    func forgetNames(of urls: some Sequence<IconURL>) -> Set<IconURL> {
        state.withLock { state in
            guard !state.urls.isEmpty else { return [] }
            let found = Set(urls).intersection(state.urls.values)
            if !found.isEmpty { state.urls = state.urls.filter { !found.contains($0.value) } }
            return found
        }
    }

    /// Whether an image is in a file that was written ahead, and is not given up since.
    func isFile(_ name: String) -> Bool {
        state.withLock { if case .file = $0.images[name] { true } else { false } }
    }

    /// Removes an image from here, and returns where it is; `nil` if it is unknown.
    func remove(_ name: String) -> Place? {
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

    /// Stops accepting images: the file system has less space than it reports (a quota), and only immediate writes
    /// detect that one by one.
    func close() {
        state.withLock { $0.isClosed = true }
    }
}
