// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules

@testable import SyncPlan

extension IconRecord {
    /// The record of an icon to which these events have happened.
    init(isInline: Bool = false, _ events: [IconEvent]) {
        self.init(isInline: isInline)
        for event in events { apply(event) }
    }
}

extension IconEvent {
    /// The image that a word stands for is on disk.
    static func found(_ word: String, freshUntil: Timestamp = .distantPast) -> IconEvent {
        .found(Sample.id(word), freshUntil: freshUntil)
    }

    static func queued(at url: IconURL) -> IconEvent {
        guard let source = try? IconSource(url) else { preconditionFailure("\(url) has a source") }
        return .queued(source, origin: source.origin)
    }

    /// The image that a word stands for is downloaded, and waits to be published.
    static func staged(_ word: String, as name: String? = nil) -> IconEvent {
        let answer = IconRecord.Answer(response: PackedResponse(Sample.response(etag: word)), freshUntil: Sample.start)
        return .ended(.staged(IconRecord.Staged(image: Sample.id(word), name: name ?? word), answer), trail: nil)
    }

    static func published(_ word: String) -> IconEvent {
        .published(bytes: Sample.image(word).bytes, generation: 1)
    }
}
