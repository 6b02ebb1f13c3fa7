// SPDX-License-Identifier: Apache-2.0

/// One entry of an app list.
package struct AppEntry: Hashable, Sendable {
    /// The app's name, if the list gives one.
    package var name: String?
    /// The icon's URL, spelled as in the list.
    package var icon: String
    /// The list's `download` text, if it has one.
    package var download: String?

    package init(name: String? = nil, icon: String, download: String? = nil) {
        self.name = name
        self.icon = icon
        self.download = download
    }
}

extension AppEntry {
    /// The longest icon URL accepted, in UTF-8 bytes; the limit is lower for those that carry no image.
    package static let maxIconBytes = DataURL.maxLength
    /// The longest `name` and `download` accepted, in UTF-8 bytes.
    package static let maxTextBytes = 4096

    /// What keeps a text from being an icon's URL, as a clause; `nil` if nothing does.
    ///
    /// It must be absolute, and must be one word. Whether it can be fetched is not asked here.
    package static func flaw(inIcon icon: String) -> String? {
        let bytes = icon.utf8
        guard !bytes.isEmpty else { return "empty" }
        let longest = DataURL(icon) == nil ? FetchTarget.maxLength : DataURL.maxLength
        guard bytes.count <= longest else { return "longer than \(longest) bytes" }
        guard bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return "has a space or a control character in it" }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), isScheme(bytes[..<colon]) else {
            return "relative URL, and lists.iconBaseURL is not set"
        }
        guard bytes.index(after: colon) != bytes.endIndex else { return "only the beginning of a URL" }
        return nil
    }

    /// Whether the text is a URL's scheme (RFC 3986, section 3.1).
    private static func isScheme(_ text: Substring.UTF8View) -> Bool {
        guard let first = text.first, isLetter(first) else { return false }
        return text.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
            default: isLetter(byte)
            }
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}

/// What a property list says: its apps, and what is wrong with some of them.
package struct AppList: Equatable, Sendable {
    /// The entries that have a usable icon URL, in the list's order.
    package var entries: [AppEntry]
    /// What was passed over, in the list's order; at most ``maxProblems`` of them and one that counts the rest.
    package var problems: [EntryProblem]

    package init(entries: [AppEntry] = [], problems: [EntryProblem] = []) {
        self.entries = entries
        self.problems = problems
    }

    /// The most problems reported one by one.
    package static let maxProblems = 100
}

/// Something in an app list that was passed over, while the rest of the list counts.
package struct EntryProblem: Equatable, Sendable, CustomStringConvertible {
    /// Where it is: `[3].icon`, `apps[3]`.
    package var keyPath: String
    /// What is wrong, as a clause: `not a string`.
    package var reason: String

    package init(keyPath: String, reason: String) {
        self.keyPath = keyPath
        self.reason = reason
    }

    /// Says how many problems there are beyond those that are listed.
    package static func more(_ count: Int) -> EntryProblem {
        EntryProblem(keyPath: "…", reason: count == 1 ? "1 more problem" : "\(count) more problems")
    }

    package var description: String { "\(keyPath): \(reason)" }
}

/// How much of a property list is read, and where its icons are looked for.
package struct ListLimits: Equatable, Sendable {
    /// The largest file accepted.
    ///
    /// The default is 8 MiB.
    package var maxBytes: ByteCount
    /// The most entries accepted.
    ///
    /// The default is 50,000.
    package var maxEntries: Int
    /// The keys under which an entry's icon URL is looked for after `icon`, in this order.
    package var iconKeys: [String]

    package init(
        maxBytes: ByteCount = .mebibytes(8), maxEntries: Int = 50_000,
        iconKeys: [String] = ["icon", "icon_url", "iconURL", "iconUrl", "artwork"]
    ) {
        self.maxBytes = maxBytes
        self.maxEntries = maxEntries
        self.iconKeys = iconKeys
    }

    /// The most arrays and dictionaries inside one another.
    package static let maxDepth = 32
}
