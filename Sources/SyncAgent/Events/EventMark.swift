// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import Reports

/// A line of the journal that is not an event; each file and each run of the agent begins with a mark.
struct EventMark: Codable, Equatable {
    static let currentFormat = 1

    var format = currentFormat
    var first: Int
    /// The kernel's boot ID; `nil` if it is unknown.
    var boot: String?
    /// The reason why events before this mark may be missing; `nil` if none are.
    var after: EventGap.Cause?

    static let beginning = Array("{ \"format\": ".utf8)

    /// The line that closes the journal: no event before it is missing.
    static let end = Array("{ \"end\": true }".utf8)

    var line: String { JSON(self).line + "\n" }

    init(first: Int, boot: String?, after: EventGap.Cause? = nil) {
        (self.first, self.boot, self.after) = (first, boot, after)
    }

    /// Parses a line without its newline; `nil` if it is not a mark in this format.
    init?(_ line: some Sequence<UInt8>) {
        guard let mark = try? JSONDecoder().decode(EventMark.self, untrusted: Data(line)),
            mark.format == Self.currentFormat, (1...EventNumbers.highest).contains(mark.first)
        else { return nil }
        self = mark
    }
}

enum JournalLine {
    case event(id: Int)
    case mark(EventMark)
    case end

    private static let eventBeginning = Array("\(AgentEvent.beginning)".utf8)

    /// Parses a line without its newline; `nil` if no agent wrote it.
    init?(_ line: ArraySlice<UInt8>) {
        if line.starts(with: Self.eventBeginning) {
            let digits = line.dropFirst(Self.eventBeginning.count).prefix { (0x30...0x39).contains($0) }
            guard (1...EventRing.mostDigits).contains(digits.count), line.last == UInt8(ascii: "}") else { return nil }
            self = .event(id: digits.reduce(0) { 10 * $0 + Int($1 - 0x30) })
        } else if line.starts(with: EventMark.beginning) {
            guard let mark = EventMark(line) else { return nil }
            self = .mark(mark)
        } else if line.elementsEqual(EventMark.end) {
            self = .end
        } else {
            return nil
        }
    }
}

extension ArraySlice<UInt8> {
    /// Calls `body` with each complete line, without its newline, and the index after the newline.
    func forEachLine(_ body: (_ line: ArraySlice<UInt8>, _ end: Int) -> Void) {
        var start = startIndex
        while start < endIndex, let end = self[start...].firstIndex(of: UInt8(ascii: "\n")) {
            body(self[start..<end], end + 1)
            start = end + 1
        }
    }
}
