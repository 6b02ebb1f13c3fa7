// SPDX-License-Identifier: Apache-2.0
import SystemPackage

/// The journal's files, as far as readers may read them, and what is known of them.
///
/// A position counts the bytes of all files, also of those that are gone: it means the same wherever the files begin.
struct EventRing: Sendable {
    /// A file of the journal.
    struct Segment: Equatable, Sendable {
        /// The index of the file's name in `names`.
        var slot: Int
        /// The position of the file's first byte.
        var start: Int
        /// The number of the segment's first event, or of the next event while it is empty.
        var first: Int
        /// The number of bytes that readers may read.
        var bytes = 0

        /// The position behind the last byte that readers may read.
        var end: Int { start + bytes }
    }

    /// The segments, the oldest first.
    var segments: [Segment] = []
    /// The position of the next line.
    private var end = 0
    /// The number of the newest event; 0 if there never was one.
    var newest = 0
    /// The reason why events cannot be written, as a clause; `nil` if they can.
    var failure: String?

    static let names = (0..<4).map { "events-\($0).ndjson" }

    static func path(ofSlot slot: Int, in folder: FilePath) -> FilePath { folder.appending(names[slot]) }

    /// The first number to use when it is uncertain which numbers were used: the start of the next million.
    static func jump(after id: Int) -> Int { (id / 1_000_000 + 1) * 1_000_000 + 1 }

    /// The highest valid number in a file: a line with a higher one was not written by an agent.
    ///
    /// A reservation can have higher ones, so that numbers go on even after this one, and can be read.
    static let highest = 999_999_999_999
    static let mostDigits = 15

    mutating func begin(slot: Int, first: Int, bytes: Int) {
        segments.append(Segment(slot: slot, start: end, first: first))
        extend(by: bytes)
    }

    /// Shows bytes that were appended to the newest file.
    mutating func extend(by bytes: Int) {
        guard let last = segments.indices.last else { return }
        segments[last].bytes += bytes
        end += bytes
    }
}
