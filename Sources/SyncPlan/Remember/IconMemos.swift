// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

/// Icon memos in compact storage; each is created on access.
///
/// A start loads as many memos as there are icons. Many small allocations would leave holes in the heap; these few
/// large ones return to the system as a whole.
package struct IconMemos: Sendable {
    private struct Record {
        /// The offset of its texts: the URL, then those of its response.
        var start: Int
        var url: Int
        var image: Digest?
        var freshUntil: Timestamp
        var response: Response?
        /// An index in ``trails``.
        var trail: Int?
    }

    private struct Response {
        var status: Int
        /// The length of the URL; `nil` if there is none, or it is the icon's.
        var url: Int?
        var isFromIcon: Bool
        var fields: Int
        var requestTime: Timestamp
        var responseTime: Timestamp
    }

    private var records: [Record] = []
    /// All texts, concatenated.
    private var texts: [UInt8] = []
    /// Equal trails in a row are stored once.
    private var trails: [FetchTrail] = []
    /// By index of the memo; there are few.
    private var failures: [Int: IconRecord.Failure] = [:]

    package init(_ memos: some Sequence<IconMemo> = []) {
        for memo in memos { append(memo) }
    }

    package mutating func append(_ memo: IconMemo) {
        var record = Record(
            start: texts.count, url: append(memo.url.text), image: memo.image, freshUntil: memo.freshUntil)
        if let response = memo.response {
            let isFromIcon = response.url == memo.url.text
            record.response = Response(
                status: response.status, url: isFromIcon ? nil : response.url.map { append($0) },
                isFromIcon: isFromIcon, fields: append(response.fields.text), requestTime: response.requestTime,
                responseTime: response.responseTime)
        }
        if let trail = memo.trail {
            if trails.last != trail { trails.append(trail) }
            record.trail = trails.count - 1
        }
        failures[records.count] = memo.failure
        records.append(record)
    }

    /// Appends a text; returns its length in bytes.
    private mutating func append(_ text: String) -> Int {
        texts.append(contentsOf: text.utf8)
        return text.utf8.count
    }

    package mutating func removeFailures() { failures = [:] }
}

extension IconMemos: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { records.count }

    package subscript(index: Int) -> IconMemo {
        let record = records[index]
        var start = record.start
        func text(_ length: Int) -> String {
            defer { start += length }
            return String(decoding: texts[start..<start + length], as: UTF8.self)
        }
        let url = text(record.url)
        let response = record.response.map { response in
            StoredResponse(
                status: response.status, url: response.isFromIcon ? url : response.url.map(text),
                storedFields: text(response.fields), requestTime: response.requestTime,
                responseTime: response.responseTime)
        }
        return IconMemo(
            url: IconURL(url), image: record.image, response: response, freshUntil: record.freshUntil,
            failure: failures[index], trail: record.trail.map { trails[$0] })
    }
}

extension IconMemos: ExpressibleByArrayLiteral {
    package init(arrayLiteral memos: IconMemo...) { self.init(memos) }
}
