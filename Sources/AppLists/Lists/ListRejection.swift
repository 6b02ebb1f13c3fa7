// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// What became of a property list: an app list, or the reason why it is none.
package typealias ListVerdict = Result<AppList, ListRejection>

/// Why a file is not accepted as an app list.
package enum ListRejection: Error, Equatable, Sendable {
    // What the file itself is.

    /// The file could not be opened or read; the cause is the system's own text.
    case unreadable(String)
    case notARegularFile
    /// Names are published in JSON, which is UTF-8.
    case nameNotUTF8
    case tooLarge(limit: ByteCount)
    /// It was never the same for long enough to be read.
    case stillBeingWritten
    case emptyFile

    // What its contents are.

    /// The bytes are no property list; the detail is what stopped the parser, as a clause.
    case notAPropertyList(String)
    /// More arrays and dictionaries are nested than the limit.
    case tooDeep(limit: Int)
    /// A binary property list can refer to the same values again and again.
    case tooManyValues(limit: Int)
    case noKnownShape
    /// Several arrays could be the list, and none of them has a name that tells which; some of their keys.
    case ambiguousShape(keys: [String])
    /// A dictionary of name → URL can tell an app only by its name.
    case repeatedKeys
    /// All of its icons are given by names.
    case noIconBase
    case tooManyEntries(limit: Int)
    /// What the list says is far longer than its file, as a binary property list can repeat a text.
    case tooMuchText(limit: ByteCount)

    // What became of the program that parses it.

    /// The parser was ended by a signal, which it is when a file is made to break it.
    case parserDied(signal: String)
    /// Somebody ended the parser, or the system did for want of memory: this says nothing of the file.
    case parserKilled(signal: String)
    case parserFailed(status: Int)
    /// The time is in words: `15 s`.
    case parserTimeout(limit: String)
    /// The parser's output was not what a parser of this version says.
    case parserNonsense
    /// The parser could not be started: this says nothing of the file.
    case parserUnavailable(String)
    /// The agent has not the means to read the file, such as descriptors: this says nothing of the file, and is never
    /// published; the cause is a clause.
    case outOfResources(String)
    /// Parsing was given up because the agent is ending: this says nothing of the file.
    case cancelled
}

extension ListRejection {
    /// A rejection's stable word for scripts.
    ///
    /// The article Codes lists them all.
    package enum Code: String, CaseIterable, CustomStringConvertible, Sendable {
        case unreadable
        case notARegularFile = "not-a-regular-file"
        case nameNotUTF8 = "name-not-utf8"
        case tooLarge = "too-large"
        case stillBeingWritten = "still-being-written"
        case emptyFile = "empty-file"
        case notAPropertyList = "not-a-property-list"
        case tooDeep = "too-deep"
        case tooManyValues = "too-many-values"
        case noKnownShape = "no-known-shape"
        case ambiguousShape = "ambiguous-shape"
        case repeatedKeys = "repeated-keys"
        case noIconBase = "no-icon-base"
        case tooManyEntries = "too-many-entries"
        case tooMuchText = "too-much-text"
        case parserDied = "parser-died"
        case parserKilled = "parser-killed"
        case parserFailed = "parser-failed"
        case parserTimeout = "parser-timeout"
        case parserNonsense = "parser-nonsense"
        case parserUnavailable = "parser-unavailable"
        case outOfResources = "out-of-resources"
        case cancelled

        package var description: String { rawValue }
    }

    package var code: Code {
        switch self {
        case .unreadable: .unreadable
        case .notARegularFile: .notARegularFile
        case .nameNotUTF8: .nameNotUTF8
        case .tooLarge: .tooLarge
        case .stillBeingWritten: .stillBeingWritten
        case .emptyFile: .emptyFile
        case .notAPropertyList: .notAPropertyList
        case .tooDeep: .tooDeep
        case .tooManyValues: .tooManyValues
        case .noKnownShape: .noKnownShape
        case .ambiguousShape: .ambiguousShape
        case .repeatedKeys: .repeatedKeys
        case .noIconBase: .noIconBase
        case .tooManyEntries: .tooManyEntries
        case .tooMuchText: .tooMuchText
        case .parserDied: .parserDied
        case .parserKilled: .parserKilled
        case .parserFailed: .parserFailed
        case .parserTimeout: .parserTimeout
        case .parserNonsense: .parserNonsense
        case .parserUnavailable: .parserUnavailable
        case .outOfResources: .outOfResources
        case .cancelled: .cancelled
        }
    }

    /// Whether the agent, and not the file, is in trouble.
    package var isOutOfResources: Bool { code == .outOfResources }

    /// Whether it tells of the file, which is then not read again until it changes.
    package var isOfTheFile: Bool {
        switch self {
        case .unreadable, .stillBeingWritten, .parserKilled, .parserUnavailable, .outOfResources, .cancelled: false
        case .notARegularFile, .nameNotUTF8, .tooLarge, .emptyFile, .notAPropertyList, .tooDeep, .tooManyValues,
            .noKnownShape, .ambiguousShape, .repeatedKeys, .noIconBase, .tooManyEntries, .tooMuchText, .parserDied,
            .parserFailed, .parserTimeout, .parserNonsense:
            true
        }
    }
}
