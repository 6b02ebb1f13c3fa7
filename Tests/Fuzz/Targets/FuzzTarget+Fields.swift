// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules
import SyncPlan

extension FuzzTarget {
    /// Header fields, a line each; an empty line begins those of a later answer.
    static let fields = FuzzTarget(name: "fields", isText: true) { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        let blocks = text.split(separator: "\n\n", maxSplits: 1).map { HTTPFields(text: String($0)) }
        guard let fields = blocks.first else { return }
        for block in blocks { try check(block) }
        let sent = Timestamp(sinceEpoch: .seconds(1_795_000_000))
        let received = sent + .seconds(1)
        let response = StoredResponse(fields: fields, requestTime: sent, responseTime: received)
        try check(response)
        if let other = blocks.last {
            let update = StoredResponse(fields: other, requestTime: received, responseTime: received + .seconds(1))
            if case .updated(let updated) = response.freshened(by: update) {
                try hold(!response.validators.isEmpty, "updated by an answer to a question that was not asked")
                try check(updated)
            }
            let target = try FetchTarget("https://example.com/a.png")
            if var part = PartialDownload(of: IconURL(target.url), from: target, response: response, fields: fields) {
                part.bytes = 5
                let later = StoredResponse(
                    status: 206, fields: other, requestTime: received, responseTime: received)
                if let whole = part.extended(by: later, fields: other) {
                    try hold(whole.end > part.bytes && whole.end <= whole.length, "an end at \(whole.end) bytes")
                    try hold(part.length ?? whole.length == whole.length, "another length than at first")
                }
            }
        }
    }

    private static func check(_ fields: HTTPFields) throws {
        try hold(HTTPFields(text: fields.text).text.hasBytes(of: fields.text), "other fields when read again")
        for line in fields.lines {
            try hold(!fields[line.name].isEmpty, "“\(line.name)” is not found")
            try hold(!line.value.utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }, "a control character")
            try hold(!line.name.utf8.contains { $0 <= 0x20 || $0 >= 0x7F }, "the name “\(line.name)”")
            _ = CacheControl(line.value)
            if let range = ContentRange(line.value) {
                try hold((0..<(range.length ?? .max)).contains(range.last) && range.first <= range.last, "\(range)")
            }
            if let tag = EntityTag(line.value) {
                try hold(tag.text.hasBytes(of: line.value) && tag.matches(tag), "another tag: \(tag)")
            }
        }
        let received = Timestamp(sinceEpoch: .seconds(1_795_000_000))
        if let retry = RetryAfter(fields, receivedAt: received) {
            try hold((.zero...RetryAfter.longest).contains(retry.delay), "a delay of \(retry.delay)")
        }
    }

    private static func check(_ response: StoredResponse) throws {
        let again = StoredResponse(
            status: response.status, fields: HTTPFields(text: response.fields.text),
            requestTime: response.requestTime, responseTime: response.responseTime)
        try hold(again == response, "another response when stored")
        let unpacked = PackedResponse(response).unpacked
        try hold(unpacked == response, "another response when packed")
        try hold(unpacked.fields.text.hasBytes(of: response.fields.text), "other fields when packed")
        try hold(response.fields.text.utf8.count < 8 * 1100, "\(response.fields.text.utf8.count) bytes are kept")
        let sent = [response.validators.etag, response.validators.lastModified, response.strongValidator]
        for value in sent.compactMap(\.self) {
            try hold(!value.utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }, "“\(value)” is sent")
        }
        let freshness = Freshness(of: response)
        try hold(freshness.lifetime >= .zero && freshness.receivedAge.total >= .zero, "\(freshness)")
        try hold(freshness.end >= response.responseTime, "fresh until \(freshness.end)")
        try hold(!freshness.isFresh(at: freshness.end), "fresh at its end")
        let policy = RefreshPolicy()
        var generator = SeededGenerator(seed: 1)
        let check = NextCheck(for: response, under: policy, using: &generator)
        try hold(
            (policy.minimum...policy.maximum * 2).contains(check.time - response.responseTime),
            "next asked for: \(check)")
    }
}
