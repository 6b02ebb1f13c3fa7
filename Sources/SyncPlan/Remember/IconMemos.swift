// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

/// Icon memos in compact storage; each is created on access.
///
/// A start loads as many memos as there are icons. That many small allocations would leave holes in the heap; a few
/// large ones return to the system as a whole.
package struct IconMemos: Sendable {
    private struct Record {
        /// The offset of the memo's bytes: the icon's URL, then the response, then the response's URL.
        var start: Int
        var url: Int
        var image: Digest?
        var freshUntil: Timestamp
        /// The length of the response; 0 if there is none.
        var response = 0
        /// The length of the response's URL; `nil` if there is no response, or its URL is the icon's.
        var responseURL: Int?
        var isFromIcon = false
        /// An index in ``trails``.
        var trail: Int?
    }

    private var records: [Record] = []
    /// All URLs and responses, concatenated.
    private var bytes: [UInt8] = []
    /// The trails; equal ones in a row are stored once.
    private var trails: [FetchTrail] = []
    /// The failures by index of the memo; only few memos have one.
    private var failures: [Int: IconRecord.Failure] = [:]

    package init(_ memos: some Sequence<IconMemo> = []) {
        for memo in memos { append(memo) }
    }

    package mutating func append(_ memo: IconMemo) {
        var record = Record(
            start: bytes.count, url: append(memo.url.text.utf8), image: memo.image, freshUntil: memo.freshUntil)
        if let response = memo.packedResponse {
            record.response = append(response.bytes)
            record.isFromIcon = response.url == memo.url.text
            record.responseURL = record.isFromIcon ? nil : response.url.map { append($0.utf8) }
        }
        if let trail = memo.trail {
            if trails.last != trail { trails.append(trail) }
            record.trail = trails.count - 1
        }
        failures[records.count] = memo.failure
        records.append(record)
    }

    /// Appends bytes; returns their number.
    private mutating func append(_ new: some Collection<UInt8>) -> Int {
        bytes.append(contentsOf: new)
        return new.count
    }

    package mutating func removeFailures() { failures = [:] }
}

extension IconMemos: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { records.count }

    package subscript(index: Int) -> IconMemo {
        let record = records[index]
        var start = record.start
        func next(_ length: Int) -> ArraySlice<UInt8> {
            defer { start += length }
            return bytes[start..<start + length]
        }
        func text(_ length: Int) -> String { String(decoding: next(length), as: UTF8.self) }
        let url = text(record.url)
        var response: PackedResponse?
        if record.response > 0 {
            let packed = Array(next(record.response))
            response = PackedResponse(
                url: record.isFromIcon ? url : record.responseURL.map(text), bytes: packed)
        }
        return IconMemo(
            url: IconURL(url), image: record.image, packedResponse: response, freshUntil: record.freshUntil,
            failure: failures[index], trail: record.trail.map { trails[$0] })
    }
}

extension IconMemos: ExpressibleByArrayLiteral {
    package init(arrayLiteral memos: IconMemo...) { self.init(memos) }
}
