// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// A dictionary of name → URL as an app list, in the natural order of the names; or of image → SHA-256, as Munki's `_icon_hashes.plist`.
///
/// Remarks count for nothing among names with URLs, but are images among digests.
struct NamedIcons {
    private var draft: ListDraft
    /// The number of values that tell that they are URLs; any word can be a relative one.
    private(set) var urls = 0
    /// The number of URLs with other schemes than those of icons.
    private var foreign = 0
    /// The number of values that are absolute URLs in quotes or brackets.
    private(set) var wrappedURLs = 0
    /// The number of empty values.
    private(set) var blanks = 0
    /// The number of values that are words or sentences.
    private(set) var words = 0
    /// The number of values that are numbers, dates or versions, or of another type that cannot be a URL.
    private var figures = 0
    private var images: Set<IconURL> = []
    private var isEmpty = true
    /// Whether all values are digests.
    private var hasDigests = true

    init(limits: ListLimits) {
        draft = ListDraft(limits)
    }

    var rejection: ListRejection? { draft.rejection }

    mutating func add(_ value: String, for key: String) {
        draft.count(value)
        draft.count(key)
        let name = AppEntry.trimmed(key)
        isEmpty = false
        hasDigests = hasDigests && Digest(hex: value.asciiLowercased) != nil
        if hasDigests, let url = draft.limits.iconBase?.url(ofFile: name), AppEntry.flaw(inIcon: url) == nil {
            images.insert(IconURL(url))
        }
        guard !Self.isRemark(key) else { return }
        if draft.limits.isPlainURL(value) {
            urls += 1
            if AppEntry.hasOtherScheme(value) { foreign += 1 }
        } else if AppEntry.isProse(value) {
            let text = AppEntry.trimmed(value).utf8
            if text.first?.isDigit == true, !text.contains(where: \.isWhiteSpace) { figures += 1 } else { words += 1 }
        }
        let isNamed = name.utf8.count <= AppEntry.maxTextBytes
        switch draft.limits.icon(value) {
        case .failure(let flaw):
            if flaw == .empty { blanks += 1 }
            if case .wrapped = flaw { wrappedURLs += 1 }
            draft.addUnusable(name: isNamed ? name : nil, id: nil, at: ListPath.key(key), flaw.description)
        case .success(let url):
            if !isNamed {
                draft.addProblem(ListPath.key(key), "its name is longer than \(AppEntry.maxTextBytes) bytes")
            }
            draft.add(AppEntry(name: isNamed ? name : nil, icon: url), at: ListPath.key(key))
        }
    }

    /// Records a value that is not a string as a problem; `isFigure` says that it is a number, a boolean, a date or data,
    /// which no writer puts in place of a URL.
    mutating func addOther(for key: String, isFigure: Bool) {
        isEmpty = false
        hasDigests = false
        guard !Self.isRemark(key) else { return }
        if isFigure { figures += 1 }
        let name = AppEntry.trimmed(key)
        let isNamed = name.utf8.count <= AppEntry.maxTextBytes
        draft.addUnusable(name: isNamed ? name : nil, id: nil, at: ListPath.key(key), "not a string")
    }

    /// Whether a key begins as those of comments and of a document's own description do, such as `@context`.
    static func isRemark(_ key: String) -> Bool {
        let isAnnotation = key.utf8.first == UInt8(ascii: "@") && key.utf8.dropFirst().first?.isSmallLetter == true
        return isAnnotation || key.starts(withBytes: "_") || key.starts(withBytes: "$") || key.starts(withBytes: "//")
    }

    /// The list, if most values are URLs and one of them can be requested; the images, if all values are digests.
    var verdict: ListVerdict {
        let limit = draft.limits.maxEntries
        if urls + wrappedURLs > 0 {
            if draft.entries.count + draft.problemCount > limit { return .failure(.tooManyEntries(limit: limit)) }
            let others = words + figures
            let isList = others == 0 || others < urls - foreign + wrappedURLs
            return draft.verdict.flatMap { isList ? .success($0) : .failure(.noKnownShape) }
        }
        guard hasDigests, !isEmpty else { return .failure(.noKnownShape) }
        guard draft.limits.iconBase != nil else { return .failure(.noIconBase) }
        return images.count > limit ? .failure(.tooManyEntries(limit: limit)) : .success(AppList(images: images))
    }
}

extension UInt8 {
    fileprivate var isSmallLetter: Bool { isLetter && self & 0x20 != 0 }
}
