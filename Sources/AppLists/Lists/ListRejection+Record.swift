// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// A rejection on its way from the parser: its code and its facts, from which the agent makes the message.
extension ListRejection {
    /// The most keys that ``ambiguousShape(keys:)`` tells.
    package static let maxKeys = 5

    /// The facts of a rejection that the parser gives; none of those that only the agent gives.
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

    /// Makes a rejection of what a parser wrote, which a file may have taken over.
    ///
    /// The agent acts on some of the codes that are its own: a parser that gave `out-of-resources` would have it wait for
    /// ever.
    ///
    /// - Returns: `nil` if the code is not the parser's to give, or the facts are not those of the code.
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
