// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// Encoding of a rejection in the parser's output: its code and facts. The agent makes the message from them.
extension ListRejection {
    /// The most keys that ``ambiguousShape(keys:)`` lists.
    package static let maxKeys = 5

    /// The facts sent with the code; empty for rejections that only the agent makes.
    var facts: [String] {
        switch self {
        case .unreadable(let text), .notAPropertyList(let text): [text]
        case .tooLarge(let limit), .tooMuchText(let limit): [String(limit.bytes)]
        case .tooDeep(let limit), .tooManyValues(let limit), .tooManyEntries(let limit): [String(limit)]
        case .ambiguousShape(let keys): keys
        case .emptyFile, .noKnownShape, .repeatedKeys, .noIconBase: []
        case .notARegularFile, .nameNotUTF8, .stillBeingWritten, .parserDied, .parserKilled, .parserFailed,
            .parserTimeout, .parserNonsense, .parserUnavailable, .outOfResources, .cancelled:
            []
        }
    }

    /// Decodes a rejection from a parser that the file may have taken control of.
    ///
    /// The agent acts on codes of its own: a parser that could send `out-of-resources` would make it wait for ever.
    ///
    /// - Returns: `nil` if only the agent may give the code, or the facts do not match it.
    init?(ofParser code: Code, facts: [String]) {
        let text = facts.first ?? ""
        let number = Int(text).map { max($0, 0) } ?? 0
        switch code {
        case .unreadable: self = .unreadable(text)
        case .tooLarge: self = .tooLarge(limit: ByteCount(number))
        case .emptyFile: self = .emptyFile
        case .notAPropertyList: self = .notAPropertyList(text)
        case .tooDeep: self = .tooDeep(limit: number)
        case .tooManyValues: self = .tooManyValues(limit: number)
        case .noKnownShape: self = .noKnownShape
        case .ambiguousShape: self = .ambiguousShape(keys: Array(facts.prefix(Self.maxKeys)))
        case .repeatedKeys: self = .repeatedKeys
        case .noIconBase: self = .noIconBase
        case .tooManyEntries: self = .tooManyEntries(limit: number)
        case .tooMuchText: self = .tooMuchText(limit: ByteCount(number))
        case .notARegularFile, .nameNotUTF8, .stillBeingWritten, .parserDied, .parserKilled, .parserFailed,
            .parserTimeout, .parserNonsense, .parserUnavailable, .outOfResources, .cancelled:
            return nil
        }
        guard self.facts == facts else { return nil }
    }
}
