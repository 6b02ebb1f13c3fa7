// SPDX-License-Identifier: Apache-2.0
import CacheFormat

extension ListRejection: CustomStringConvertible {
    /// One or two sentences: what is wrong and what to do.
    package var message: String {
        switch self {
        case .unreadable(let cause):
            "The file cannot be read (\(cause)): make it readable for the agent."
        case .notARegularFile:
            "It is not a regular file: put a file here, or a symbolic link to one."
        case .nameNotUTF8:
            "The file's name is not UTF-8, and is shown here with its bytes escaped: rename the file."
        case .tooLarge(let limit):
            "The file is larger than \(limit): split it, or raise lists.maxBytes."
        case .stillBeingWritten:
            "The file is still being written: write it elsewhere, and move it here when it is complete."
        case .emptyFile:
            "The file is empty: write an empty array for a list without apps, or remove the file."
        case .notAPropertyList(let detail) where detail.contains(bytes: "convert it"):
            "The file is not a property list (\(detail))."
        case .notAPropertyList(let detail):
            "The file is not a property list (\(detail)): correct it, or write it again."
        case .tooDeep(let limit):
            "More than \(limit) arrays and dictionaries are nested: flatten the list."
        case .tooManyValues(let limit):
            "The file repeats values until there are more than \(limit): write it without the repetitions, or split it."
        case .noKnownShape:
            "The property list is not an app list: write an array of dictionaries with an icon key, an array of URLs, "
                + "or a dictionary that contains such an array or a URL for each name. Munki catalogs and install "
                + "manifests are accepted too."
        case .ambiguousShape(let keys):
            "Several arrays could be the list (\(keys.joined(separator: ", "))): name the intended one “apps”."
        case .repeatedKeys:
            "Some names are in the dictionary twice, possibly in different Unicode spellings: give each app its own "
                + "name, or write an array of dictionaries."
        case .noIconBase:
            "The list gives its icons by relative names, as Munki does: set lists.iconBaseURL to the folder of the icons."
        case .tooManyEntries(let limit):
            "The list has more than \(limit) entries: split it, or raise lists.maxEntries."
        case .tooMuchText(let limit):
            "The texts of the list are longer than \(limit) in total: split it."
        case .parserDied(let signal):
            "The parser crashed on this file (\(signal)): write the file again with another tool."
        case .parserKilled(let signal):
            "The parser was killed (\(signal)): the file is parsed again at the next scan."
        case .parserFailed(let status):
            "The parser ended with exit code \(status): \(Self.sameVersion)."
        case .parserTimeout(let limit):
            "The file was not parsed within \(limit): make it smaller or simpler."
        case .parserNonsense:
            "The parser's output cannot be read: \(Self.sameVersion)."
        case .parserUnavailable(let cause):
            "The parser cannot be started (\(cause)): check that syncagent-parse is installed."
        case .outOfResources(let cause):
            "The file cannot be read now: \(cause)."
        case .cancelled:
            "The agent ended before the file was parsed: run it again."
        }
    }

    private static let sameVersion = "install syncagent and syncagent-parse from the same version"

    package var description: String { message }
}
