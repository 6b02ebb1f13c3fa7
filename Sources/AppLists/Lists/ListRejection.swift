// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

package typealias ListVerdict = Result<AppList, ListRejection>

package enum ListRejection: Error, Equatable, Sendable {
    // Problems of the file itself.

    /// Opening or reading failed; the cause is the system's text.
    case unreadable(String)
    case notARegularFile
    /// Published names are JSON, which is UTF-8.
    case nameNotUTF8
    case tooLarge(limit: ByteCount)
    /// The file did not stay unchanged long enough to be read.
    case stillBeingWritten
    case emptyFile

    // Problems of its contents.

    /// The detail is a clause: what stopped the parser.
    case notAPropertyList(String)
    case tooDeep(limit: Int)
    /// A binary property list can refer to the same values many times.
    case tooManyValues(limit: Int)
    case noKnownShape
    /// Several arrays could be the list, and no key decides; carries some of the keys.
    case ambiguousShape(keys: [String])
    /// In a dictionary of name → URL, only the name identifies an app.
    case repeatedKeys
    /// All icons are given by relative names, and `lists.iconBaseURL` is not set.
    case noIconBase
    case tooManyEntries(limit: Int)
    /// The texts are far longer than the file: a binary property list can repeat a text.
    case tooMuchText(limit: ByteCount)

    // Problems of the parser process.

    /// A signal ended the parser, as a crafted file can cause.
    case parserDied(signal: String)
    /// The parser was killed by someone, or by the system for lack of memory; says nothing about the file.
    case parserKilled(signal: String)
    case parserFailed(status: Int)
    /// The limit as text: `15 s`.
    case parserTimeout(limit: String)
    /// The output does not have the format of this version's parser.
    case parserNonsense
    /// The parser could not be started; says nothing about the file.
    case parserUnavailable(String)
    /// The agent lacks resources, such as descriptors, to read the file.
    ///
    /// Says nothing about the file, and is never published. The cause is a clause.
    case outOfResources(String)
    /// The agent is shutting down; says nothing about the file.
    case cancelled
}

extension ListRejection {
    /// A stable code for scripts; the article Codes lists them all.
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

    /// Whether the agent lacks resources; the file may be fine.
    package var isOutOfResources: Bool { code == .outOfResources }

    /// Whether the file is at fault; it is then not read again until it changes.
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
