// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

package typealias ListVerdict = Result<AppList, ListRejection>

/// Why there is no app list: a code, and the facts that the message names.
package struct ListRejection: Error, Equatable, Sendable {
    /// A stable code for scripts; the article Codes lists them all.
    package enum Code: String, CaseIterable, CustomStringConvertible, Sendable {
        // Problems of the file itself.

        case unreadable
        case notARegularFile = "not-a-regular-file"
        /// Published names are JSON, which is UTF-8.
        case nameNotUTF8 = "name-not-utf8"
        case tooLarge = "too-large"
        /// The file did not stay unchanged long enough to be read.
        case stillBeingWritten = "still-being-written"
        case emptyFile = "empty-file"

        // Problems of its contents.

        case notAPropertyList = "not-a-property-list"
        case tooDeep = "too-deep"
        /// A binary property list can refer to the same values many times.
        case tooManyValues = "too-many-values"
        case noKnownShape = "no-known-shape"
        /// Several arrays could be the list, and no key decides.
        case ambiguousShape = "ambiguous-shape"
        /// In a dictionary of name → URL, only the name identifies an app; in any other, one of the apps would be lost.
        case repeatedKeys = "repeated-keys"
        /// All icons, or all images, are given by relative names, and `lists.iconBaseURL` is not set.
        case noIconBase = "no-icon-base"
        /// No entry has a URL that can be requested: only an empty array is an empty list.
        case noUsableEntry = "no-usable-entry"
        case tooManyEntries = "too-many-entries"
        /// The texts are far longer than the file: a binary property list can repeat a text.
        case tooMuchText = "too-much-text"

        // Problems of the parser process: codes that begin with `parser-` are labels of a metric.

        /// A signal ended the parser, as a crafted file can cause.
        case parserDied = "parser-died"
        /// Someone killed the parser, or the system did for lack of memory; says nothing about the file.
        case parserKilled = "parser-killed"
        case parserFailed = "parser-failed"
        case parserTimeout = "parser-timeout"
        /// The output does not have the format of this version's parser.
        case parserNonsense = "parser-nonsense"
        /// The parser could not be started; says nothing about the file.
        case parserUnavailable = "parser-unavailable"
        /// The agent lacks resources, such as descriptors, to read the file; says nothing about it, never published.
        case outOfResources = "out-of-resources"
        /// The agent is shutting down; says nothing about the file.
        case cancelled

        package var description: String { rawValue }
    }

    /// The most keys that ``ambiguousShape(keys:)`` lists.
    package static let maxKeys = 5

    package let code: Code
    /// A cause, a limit or some keys.
    package let facts: [String]

    private init(_ code: Code, _ facts: [String] = []) {
        (self.code, self.facts) = (code, facts)
    }

    private init(_ code: Code, limit: Int) {
        self.init(code, [String(limit)])
    }

    /// Opening or reading failed; the cause is the system's text.
    package static func unreadable(_ cause: String) -> Self { Self(.unreadable, [cause]) }
    package static let notARegularFile = Self(.notARegularFile)
    package static let nameNotUTF8 = Self(.nameNotUTF8)
    package static func tooLarge(limit: ByteCount) -> Self { Self(.tooLarge, limit: limit.bytes) }
    package static let stillBeingWritten = Self(.stillBeingWritten)
    package static let emptyFile = Self(.emptyFile)
    /// The detail is a clause: what stopped the parser.
    package static func notAPropertyList(_ detail: String) -> Self { Self(.notAPropertyList, [detail]) }
    /// The same for a file that is meant as JSON.
    package static func notJSON(_ detail: String) -> Self { Self(.notAPropertyList, [detail, "JSON"]) }
    package static func tooDeep(limit: Int) -> Self { Self(.tooDeep, limit: limit) }
    package static func tooManyValues(limit: Int) -> Self { Self(.tooManyValues, limit: limit) }
    package static let noKnownShape = Self(.noKnownShape)
    package static func ambiguousShape(keys: [String]) -> Self { Self(.ambiguousShape, keys) }
    package static let repeatedKeys = Self(.repeatedKeys)
    /// An app's dictionary has the key of an icon twice, the second time in a line.
    package static func repeatedKey(_ key: String, line: Int) -> Self { Self(.repeatedKeys, [key, String(line)]) }
    package static let noIconBase = Self(.noIconBase)
    /// The first problem of the list's entries, as text.
    package static func noUsableEntry(_ problem: String) -> Self { Self(.noUsableEntry, [problem]) }
    package static func tooManyEntries(limit: Int) -> Self { Self(.tooManyEntries, limit: limit) }
    package static func tooMuchText(limit: ByteCount) -> Self { Self(.tooMuchText, limit: limit.bytes) }
    package static func parserDied(signal: String) -> Self { Self(.parserDied, [signal]) }
    package static func parserKilled(signal: String) -> Self { Self(.parserKilled, [signal]) }
    package static func parserFailed(status: Int) -> Self { Self(.parserFailed, limit: status) }
    /// The limit as text: `15 s`.
    package static func parserTimeout(limit: String) -> Self { Self(.parserTimeout, [limit]) }
    package static let parserNonsense = Self(.parserNonsense)
    package static func parserUnavailable(_ cause: String) -> Self { Self(.parserUnavailable, [cause]) }
    /// The cause is a clause.
    package static func outOfResources(_ cause: String) -> Self { Self(.outOfResources, [cause]) }
    package static let cancelled = Self(.cancelled)
}

extension ListRejection {
    /// Decodes a rejection from a parser that the file may have taken control of.
    ///
    /// The agent acts on codes of its own: a parser that could send `out-of-resources` would make it wait for ever.
    ///
    /// - Returns: `nil` if only the agent may give the code, or the facts do not match it.
    init?(ofParser code: Code, facts: [String]) {
        let number = facts.first.flatMap { Int($0) }.map { max($0, 0) }
        let isValid =
            switch code {
            case .emptyFile, .noKnownShape, .noIconBase: facts.isEmpty
            case .repeatedKeys: facts.isEmpty || facts.count == 2 && Int(facts[1]) != nil
            case .unreadable, .noUsableEntry: facts.count == 1
            case .notAPropertyList: facts.count == 1 || facts.count == 2 && facts[1] == "JSON"
            case .tooLarge, .tooDeep, .tooManyValues, .tooManyEntries, .tooMuchText:
                facts == number.map { [String($0)] }
            case .ambiguousShape: facts.count <= Self.maxKeys
            case .notARegularFile, .nameNotUTF8, .stillBeingWritten, .parserDied, .parserKilled, .parserFailed,
                .parserTimeout, .parserNonsense, .parserUnavailable, .outOfResources, .cancelled:
                false
            }
        guard isValid else { return nil }
        self.init(code, facts)
    }

    /// Whether the agent lacks resources; the file may be fine.
    package var isOutOfResources: Bool { code == .outOfResources }

    /// Whether the file is at fault; it is then not read again until it changes.
    package var isOfTheFile: Bool {
        switch code {
        case .unreadable, .stillBeingWritten, .parserKilled, .parserUnavailable, .outOfResources, .cancelled: false
        case .notARegularFile, .nameNotUTF8, .tooLarge, .emptyFile, .notAPropertyList, .tooDeep, .tooManyValues,
            .noKnownShape, .ambiguousShape, .repeatedKeys, .noIconBase, .noUsableEntry, .tooManyEntries,
            .tooMuchText, .parserDied, .parserFailed, .parserTimeout, .parserNonsense:
            true
        }
    }
}

extension ListRejection: CustomStringConvertible {
    /// One or two sentences: what is wrong and what to do.
    package var message: String {
        let fact = facts.first ?? ""
        let size = ByteCount(Int(fact) ?? 0)
        let sameVersion = "install syncagent and syncagent-parse from the same version"
        return switch code {
        case .unreadable:
            "The file cannot be read (\(fact)): make it readable for the agent."
        case .notARegularFile:
            "It is not a regular file: put a file here, or a symbolic link to one."
        case .nameNotUTF8:
            "The file's name is not UTF-8, and is shown here with its bytes escaped: rename the file."
        case .tooLarge:
            "The file is larger than \(size): split it, or raise lists.maxBytes."
        case .stillBeingWritten:
            "The file is still being written: write it elsewhere, and move it here when it is complete."
        case .emptyFile:
            "The file is empty: write an empty array for a list without apps, or remove the file."
        case .notAPropertyList:
            "The file is not \(facts.count == 2 ? "valid JSON" : "a property list") (\(fact)): correct it, or write it again."
        case .tooDeep:
            "More than \(fact) arrays and dictionaries are nested: flatten the list."
        case .tooManyValues:
            "The file repeats values until there are more than \(fact): write it without the repetitions, or split it."
        case .noKnownShape:
            "The file is not an app list: write an array of dictionaries with the URL of an icon under "
                + "“icon” or another key of lists.iconKeys, an array of URLs, or a dictionary that contains such an array "
                + "or a URL for each name. Munki catalogs and install manifests are accepted too."
        case .ambiguousShape where facts.count == 1:
            "The array \(fact), or the names with URLs beside it, could be the list: name the intended one “apps”."
        case .ambiguousShape:
            "Several arrays could be the list (\(facts.joined(separator: ", "))): name the intended one “apps”."
        case .repeatedKeys where facts.count == 2:
            "A dictionary has “\(fact)” twice, again in line \(facts[1]), so one of its apps may be lost: end the "
                + "dictionary of each app before that of the next, or remove one of the two."
        case .repeatedKeys:
            "Some names are in the dictionary twice, possibly in different Unicode spellings: give each app its own "
                + "name, put all apps under one key, or write an array of dictionaries."
        case .noIconBase:
            "The list gives its icons by relative names, as Munki does: set lists.iconBaseURL to the folder of the icons."
        case .noUsableEntry:
            "No entry of the list has a usable icon URL (\(fact)): correct the URLs, or write an empty array for a list "
                + "without apps."
        case .tooManyEntries:
            "The list has more than \(fact) entries: split it, or raise lists.maxEntries."
        case .tooMuchText:
            "The texts of the list are longer than \(size) in total: split it."
        case .parserDied:
            "The parser crashed on this file (\(fact)): write the file again with another tool."
        case .parserKilled:
            "The parser was killed (\(fact)): the file is parsed again at the next scan."
        case .parserFailed:
            "The parser ended with exit code \(fact): \(sameVersion)."
        case .parserTimeout:
            "The file was not parsed within \(fact): make it smaller or simpler."
        case .parserNonsense:
            "The parser's output cannot be read: \(sameVersion)."
        case .parserUnavailable:
            "The parser cannot be started (\(fact)): check that syncagent-parse is installed."
        case .outOfResources:
            "The file cannot be read now: \(fact)."
        case .cancelled:
            "The agent stopped before the file was parsed: start the agent again."
        }
    }

    package var description: String { message }
}
