// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import SyncPlan
import Synchronization

/// Where downloaded images are until a manifest names them, and how to undo changes on disk that no manifest needs.
///
/// Small images stay in memory until the publisher writes each one once: in its publication, or ahead of that under its
/// final name.
package final class StagedImages: Sendable {
    /// The limit on the bytes in memory.
    package static let limit = 64 << 20

    enum Place: Equatable {
        case memory([UInt8])
        /// A file in `staging/`: the place of all images that are not known to be elsewhere.
        case staging
        /// A file that was written ahead, at this path; `nil` if a publication has named the file since, or the cache
        /// folder was replaced. If there is a URL, its name in `by-url/` was made ahead, too.
        case ahead(String?, named: IconURL? = nil)

        fileprivate var isAhead: Bool { if case .ahead = self { true } else { false } }
        fileprivate var url: IconURL? { if case .ahead(_, let url) = self { url } else { nil } }
    }

    /// How to undo a change of a publication that is not in force.
    enum Undo {
        case remove(String)
        /// Restores the target of a `by-url/` name; without one before, removes the name.
        case restore(IconURL, before: String?)

        /// Removals come first, because they free space: on a full disk, names can be restored only then.
        fileprivate var order: Int {
            if case .restore(_, let before) = self { before == nil ? 1 : 2 } else { 0 }
        }
    }

    private struct State {
        /// Where images are, by name, except for the images in `staging/`.
        private(set) var places: [String: Place] = [:]
        /// How many images are at each path: images of the same bytes share one.
        private var owners: [String: Int] = [:]
        /// The names of the images whose URLs were named ahead and not handed over, by URL.
        var named: [IconURL: String] = [:]
        /// The files written ahead that no publication has named.
        var files: Set<String> = []
        /// The images written ahead for which names were not made yet.
        var unnamed: [ImageAhead] = []
        /// How to undo the changes of the publication under way, and of failed ones where undoing failed.
        var undos: [Undo] = []
        var bytes = 0
        var isClosed = false

        /// Changes where an image is, and returns where it was; both are `nil` in `staging/`.
        @discardableResult
        mutating func move(_ name: String, to place: Place?) -> Place? {
            let before = places[name]
            places[name] = place
            if case .ahead(let path?, _) = before { owners[path] = owners[path].flatMap { $0 > 1 ? $0 - 1 : nil } }
            if case .ahead(let path?, _) = place { owners[path, default: 0] += 1 }
            return before
        }

        /// Gives up a file that was written ahead, unless another image is at the path; returns the path if so.
        mutating func giveUp(_ path: String?) -> String? {
            path.flatMap { owners[$0] == nil ? files.remove($0) : nil }
        }

        /// Forgets the files of images that were written ahead.
        mutating func forgetFolder() {
            for (name, place) in places where place.isAhead { move(name, to: .ahead(nil)) }
            (files, unnamed, undos, named) = ([], [], [], [:])
        }

        /// The images in ``unnamed`` that were not published or given up since.
        var writtenAhead: [ImageAhead] { unnamed.filter { places[$0.staged.name]?.isAhead ?? false } }
    }

    private let state = Mutex(State())
    private let batch: Int

    /// Creates an empty store; names are made ahead for `batch` images, or 16 MiB, at a time.
    package init(batch: Int = 1500) { self.batch = batch }

    /// Keeps an image in memory under a unique name.
    ///
    /// - Returns: `false` if that would exceed the limit, or after ``close()``.
    func hold(_ bytes: [UInt8], as name: String) -> Bool {
        state.withLock { state in
            guard !state.isClosed, state.bytes + bytes.count <= Self.limit else { return false }
            state.move(name, to: .memory(bytes))
            state.bytes += bytes.count
            return true
        }
    }

    /// Stops accepting images: the file system has less space than it reports (a quota), and only writing each image at
    /// once detects that.
    func close() {
        state.withLock { $0.isClosed = true }
    }

    /// The bytes of an image in memory.
    func bytes(of name: String) -> [UInt8]? {
        state.withLock { if case .memory(let bytes) = $0.places[name] { bytes } else { nil } }
    }

    func place(of name: String) -> Place {
        state.withLock { $0.places[name] ?? .staging }
    }

    /// Removes an image from the store, and returns where it is.
    func remove(_ name: String) -> Place {
        state.withLock { state in
            let place = state.move(name, to: nil) ?? .staging
            if case .memory(let bytes) = place { state.bytes -= bytes.count }
            guard case .ahead(let path, let url) = place else { return place }
            if let url { state.named[url] = nil }
            return .ahead(state.giveUp(path), named: url)
        }
    }

    // MARK: - Ahead of publications

    /// Records that an image was written ahead to its path, and drops it from memory.
    func wrote(_ image: ImageAhead, to path: String) {
        state.withLock { state in
            state.unnamed.append(image)
            let before = state.move(image.staged.name, to: .ahead(path))
            guard case .memory(let bytes) = before else { return }
            state.bytes -= bytes.count
            state.files.insert(path)
        }
    }

    /// Removes and returns the images that need names in `by-url/`; `nil` until they fill a batch.
    func drainUnnamed() -> [ImageAhead]? {
        state.withLock { state in
            guard state.unnamed.areMany(batch, bytes: 16 << 20) else { return nil }
            defer { state.unnamed = [] }
            return state.writtenAhead
        }
    }

    /// Records that the name of a URL was made ahead, for the image that was written to the path.
    func named(_ name: String, at path: String, _ url: IconURL) {
        state.withLock { state in
            state.move(name, to: .ahead(path, named: url))
            // An earlier image of the URL has lost the name: whoever discards that image must leave the name alone.
            guard let earlier = state.named.updateValue(name, forKey: url) else { return }
            if case .ahead(let path, _) = state.places[earlier] { state.move(earlier, to: .ahead(path)) }
        }
    }

    // MARK: - Publications

    /// Hands the names made ahead over to the publication that sets them.
    ///
    /// - Returns: The URLs whose names lead to images that it moves.
    func handOver(to publication: Publication) -> Set<IconURL> {
        state.withLock { state in
            guard !state.named.isEmpty else { return [] }
            let urls = Set(publication.moves.compactMap { state.places[$0.name]?.url })
            for link in publication.links {
                guard let name = state.named.removeValue(forKey: link.url) else { continue }
                state.undos.append(.restore(link.url, before: link.before))
                if case .ahead(let path, _) = state.places[name] { state.move(name, to: .ahead(path)) }
            }
            return urls
        }
    }

    /// Records that the publication under way gave an image its name in `icons/`.
    func placed(_ image: StagedImage) {
        state.withLock { state in
            let place = Place.ahead(image.image.path)
            guard case .memory(let bytes) = state.move(image.name, to: place) else { return }
            state.bytes -= bytes.count
        }
    }

    /// Leaves images that a failed publication has placed where they are, as if they were written ahead.
    func keepPlaced(_ images: [StagedImage]) {
        state.withLock { state in
            let paths = Set(images.filter { state.places[$0.name]?.isAhead ?? false }.map(\.image.path))
            for case .remove(let path) in state.undos where paths.contains(path) { state.files.insert(path) }
            state.undos.removeAll { if case .remove(let path) = $0 { paths.contains(path) } else { false } }
        }
    }

    /// Drops images that were published or given up since from ``State/unnamed``.
    func forgetMoved() {
        state.withLock { $0.unnamed = $0.writtenAhead }
    }

    /// Records a change of the publication under way; a file that the publication placed is no longer one written ahead.
    func record(_ undo: Undo) {
        state.withLock { state in
            if case .remove(let path) = undo { state.files.remove(path) }
            state.undos.append(undo)
        }
    }

    /// The changes to undo, in order, and these files, which must be removed too.
    func undos(removing files: [String]) -> [Undo] {
        state.withLock { $0.undos + files.map(Undo.remove) }.sorted { $0.order < $1.order }
    }

    /// The files that the publication under way has placed.
    var placed: [String] {
        state.withLock { $0.undos.compactMap { if case .remove(let name) = $0 { name } else { nil } } }
    }

    func replaceUndos(by undos: [Undo]) {
        state.withLock { $0.undos = undos }
    }

    /// Forgets all files and names, because another cache folder is in use now.
    func forgetFolder() {
        state.withLock { $0.forgetFolder() }
    }
}
