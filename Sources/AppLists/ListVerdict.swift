// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// What became of a property list: an app list, or the reason why it is none.
package typealias ListVerdict = Result<AppList, ListRejection>

/// Why a file is not accepted as an app list.
package struct ListRejection: Error, Equatable, Sendable, CustomStringConvertible {
    /// A stable word for scripts: `empty-file`, `parser-died`.
    package var code: String
    /// One sentence: what is wrong, and what to do.
    package var message: String

    package init(_ code: String, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}

// What the file itself is.
extension ListRejection {
    /// The file could not be opened or read; the cause is the system's own text.
    package static func unreadable(_ cause: String) -> ListRejection {
        ListRejection("unreadable", "The file cannot be read (\(cause)): make it readable for the agent.")
    }

    package static let notARegularFile = ListRejection(
        "not-a-regular-file", "It is not a regular file: put a file here, or a symbolic link to one.")

    /// Names are published in JSON, which is UTF-8.
    package static let nameNotUTF8 = ListRejection(
        "name-not-utf8", "The file's name is not UTF-8, and is shown here with its bytes escaped: rename the file.")

    package static func tooLarge(limit: ByteCount) -> ListRejection {
        ListRejection("too-large", "The file is larger than \(limit): split it, or raise lists.maxBytes.")
    }

    /// It was never the same for long enough to be read.
    package static let stillBeingWritten = ListRejection(
        "still-being-written", "The file is still being written: write it elsewhere, and move it here when it is whole."
    )

    package static let emptyFile = ListRejection(
        "empty-file", "The file is empty: write an empty array to say that there are no apps, or remove the file.")
}

// What its contents are.
extension ListRejection {
    /// The bytes are no property list; the detail is what stopped the parser, as a clause.
    package static func notAPropertyList(_ detail: String) -> ListRejection {
        ListRejection(
            "not-a-property-list", "The file is not a property list (\(detail)): correct it, or write it anew.")
    }

    package static func tooDeep(limit: Int) -> ListRejection {
        ListRejection(
            "too-deep", "More than \(limit) arrays and dictionaries are inside one another: flatten the list.")
    }

    /// A binary property list can refer to the same values again and again.
    package static func tooManyValues(limit: Int) -> ListRejection {
        ListRejection("too-many-values", "The file comes to more than \(limit) values: write it anew, or split it.")
    }

    package static let noKnownShape = ListRejection(
        "no-known-shape",
        "The property list is no app list: write an array of dictionaries with an icon key, an array of URLs, "
            + "or a dictionary with such an array or with a URL for each name; Munki catalogs and install manifests are "
            + "read too.")

    /// Several arrays could be the list, and none of them has a name that tells which.
    package static func ambiguousShape(keys: [String]) -> ListRejection {
        ListRejection(
            "ambiguous-shape",
            "Several arrays could be the list (\(keys.joined(separator: ", "))): name the one that is meant “apps”.")
    }

    /// A dictionary of name → URL can tell an app only by its name.
    package static let repeatedKeys = ListRejection(
        "repeated-keys",
        "Some names are in the dictionary twice, or are the same text in other bytes: give each app a name of its own, or "
            + "write an array of dictionaries.")

    /// All of its icons are given by names.
    package static let noIconBase = ListRejection(
        "no-icon-base",
        "The list gives its icons by relative names, as Munki does: set lists.iconBaseURL to the folder that they are in."
    )

    package static func tooManyEntries(limit: Int) -> ListRejection {
        ListRejection(
            "too-many-entries", "The list has more than \(limit) entries: split it, or raise lists.maxEntries.")
    }

    /// What the list says is far longer than its file, as a binary property list can repeat a text.
    package static func tooMuchText(limit: ByteCount) -> ListRejection {
        ListRejection("too-much-text", "The list's texts come to more than \(limit): split it.")
    }
}

// What became of the program that parses it.
extension ListRejection {
    /// The parser was ended by a signal, which it is when a file is made to break it.
    package static func parserDied(signal: String) -> ListRejection {
        ListRejection("parser-died", "The parser died of this file (\(signal)): write the file anew.")
    }

    /// Somebody ended the parser, or the system did for want of memory: this says nothing of the file.
    package static func parserKilled(signal: String) -> ListRejection {
        ListRejection("parser-killed", "The parser was killed (\(signal)): the file is parsed again at the next look.")
    }

    package static func parserFailed(status: Int) -> ListRejection {
        ListRejection(
            "parser-failed",
            "The parser ended with exit code \(status): check that syncagent-parse is of this version.")
    }

    /// The time is in words: `15 s`.
    package static func parserTimeout(limit: String) -> ListRejection {
        ListRejection("parser-timeout", "The file was not parsed within \(limit): make it smaller or simpler.")
    }

    /// The parser's output was not what a parser of this version says.
    package static let parserNonsense = ListRejection(
        "parser-nonsense", "The parser's answer makes no sense: check that syncagent-parse is of this version.")

    /// The parser could not be started: this says nothing of the file.
    package static func parserUnavailable(_ cause: String) -> ListRejection {
        ListRejection(
            "parser-unavailable", "The parser cannot be started (\(cause)): check that syncagent-parse is installed.")
    }

    /// The agent has not the means to read the file, such as descriptors: this says nothing of the file, and is never
    /// published; the cause is a clause.
    package static func outOfResources(_ cause: String) -> ListRejection {
        ListRejection(outOfResourcesCode, "The file cannot be read now: \(cause).")
    }

    private static let outOfResourcesCode = "out-of-resources"

    /// Whether the agent, and not the file, is in trouble.
    package var isOutOfResources: Bool { code == Self.outOfResourcesCode }

    /// Parsing was given up because the agent is ending: this says nothing of the file.
    package static let cancelled = ListRejection(
        "cancelled", "The agent ended before the file was parsed: run it again.")
}

extension ListRejection {
    /// Whether its code is one that the parser may give.
    ///
    /// The others are the agent's own, which acts on some of them: from a parser that a file has taken over,
    /// `out-of-resources` would have the agent wait for ever.
    package var isOfParser: Bool { Self.ofParser.contains { $0.code.utf8.elementsEqual(code.utf8) } }

    private static let ofParser = [
        unreadable(""), tooLarge(limit: ByteCount(0)), emptyFile, notAPropertyList(""), tooDeep(limit: 0),
        tooManyValues(limit: 0), noKnownShape, ambiguousShape(keys: []), repeatedKeys, noIconBase,
        tooManyEntries(limit: 0), tooMuchText(limit: ByteCount(0)),
    ]
}
