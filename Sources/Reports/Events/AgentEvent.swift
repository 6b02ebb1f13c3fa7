// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// A change that matters to users, written to the event journal and the log.
///
/// The texts are made only when they are written, because there can be as many events as icons.
package struct AgentEvent: Equatable, Sendable {
    /// The kind of event; its stable word is the name with hyphens, such as `icon-ready`.
    package enum Kind: String, CaseIterable, Sendable {
        case agentStarted, agentStopping
        case listAccepted, listRejected, listKept, listRemoved
        case iconReady, iconChanged, iconFailed, iconStale, iconFresh, iconKept, iconRetired, iconEvicted
        case iconNotRendered
        case generationPublished, publicationFailed
        case downloadsBlocked, downloadsUnblocked, renderingBlocked, renderingUnblocked
        case paused, resumed, pinned, unpinned, muted, unmuted
        case evictionHeld, evictionSuspended, evictionActive
        case cacheHealed, stateReplaced, configurationReloaded, configurationRejected
        case upstreamFresh, upstreamStale, upstreamBroken, upstreamRefused, upstreamUndelivered
        case purged, purgeFailed
        /// Events are missing; never recorded, only sent to readers: see ``EventGap``.
        case gap

        private static let words = allCases.reduce(into: [Kind: String]()) { words, kind in
            let bytes = kind.rawValue.utf8.flatMap { $0 < UInt8(ascii: "a") ? [UInt8(ascii: "-"), $0 | 0x20] : [$0] }
            words[kind] = String(decoding: bytes, as: UTF8.self)
        }

        package var word: String { Self.words[self] ?? rawValue }

        /// Whether the event is about one icon.
        ///
        /// Such events can be as many as icons; lost ones show in the icons' states.
        package var isOfIcon: Bool { rawValue.utf8.starts(with: "icon".utf8) }
    }

    /// The log line of an event, without its subject.
    package struct Entry: Sendable {
        /// The levels have the names of those in swift-log.
        package enum Level: String, Sendable { case info, notice, warning, error }

        package var level: Level
        package var text: String
        package var details: @Sendable () -> KeyValuePairs<String, String>
    }

    package let kind: Kind
    package let code: String?
    package let list: ListName?
    package let url: IconURL?
    /// The URL whose image an app keeps showing, for an event of kind `icon-kept`.
    let previous: IconURL?
    package let generation: Int?
    /// The numbers of new list documents and new images in a generation.
    package let published: (lists: Int, images: Int)
    private let makeMessage: @Sendable () -> String
    private var makeEntry: (@Sendable () -> Entry)?

    init(
        _ kind: Kind, _ message: @escaping @autoclosure @Sendable () -> String, code: String? = nil,
        list: ListName? = nil, url: IconURL? = nil, previous: IconURL? = nil, generation: Int? = nil,
        published: (lists: Int, images: Int) = (0, 0)
    ) {
        (self.kind, makeMessage, self.code, self.list) = (kind, message, code, list)
        (self.url, self.previous, self.generation, self.published) = (url, previous, generation, published)
    }

    func log(
        _ level: Entry.Level, _ text: String,
        _ details: @escaping @autoclosure @Sendable () -> KeyValuePairs<String, String> = [:]
    ) -> Self {
        var event = self
        event.makeEntry = { Entry(level: level, text: text, details: details) }
        return event
    }

    /// The event as a sentence; the subject is given in other fields.
    package var message: String { makeMessage() }

    /// The log line; `nil` if events of this kind are not logged one by one.
    package var entry: Entry? { makeEntry?() }

    package static func == (one: Self, other: Self) -> Bool {
        (one.kind, one.code, one.list, one.url, one.generation, one.message)
            == (other.kind, other.code, other.list, other.url, other.generation, other.message)
            && one.previous == other.previous
    }

    // MARK: As JSON

    /// The longest URL that is written in full, in bytes: a `data:` URL can have a megabyte.
    package static let longestURL = 4096
    private static let longestMessage = 2048
    package static let beginning: StaticString = "{ \"id\": "

    /// The event as one line of JSON with its newline, as in the journal and as sent to readers.
    ///
    /// Written without ``JSON`` for speed, because there are as many events as icons.
    package func line(id: Int, time: String) -> String {
        var line = JSONText(capacity: 256)
        line.number(after: Self.beginning, id)
        line.string(after: ", \"time\": ", time)
        line.string(after: ", \"kind\": ", kind.word)
        if let code { line.string(after: ", \"code\": ", code) } else { line.literal(", \"code\": null") }
        if let list { line.string(after: ", \"list\": ", list.text) }
        if let url {
            if url.text.utf8.count <= Self.longestURL {
                line.string(after: ", \"url\": ", url.text)
            } else {
                line.digest(after: ", \"urlSHA256\": ", Digest.of(url.text))
            }
        }
        if let previous, previous.text.utf8.count <= Self.longestURL {
            line.string(after: ", \"previous\": ", previous.text)
        }
        if let generation { line.number(after: ", \"generation\": ", generation) }
        var text = message
        if text.utf8.count > Self.longestMessage {
            text = String(text.unicodeScalars.prefix(Self.longestMessage / 4)) + "…"
        }
        line.string(after: ", \"message\": ", text)
        line.literal(" }\n")
        return String(decoding: line.bytes, as: UTF8.self)
    }
}
