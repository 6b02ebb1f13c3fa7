// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// A dictionary of name → URL as an app list, in the natural order of the names; or of image → SHA-256, as Munki's `_icon_hashes.plist`.
struct NamedIcons {
    private var draft: ListDraft
    /// The number of values that tell that they are URLs; any word can be a relative one.
    private(set) var urls = 0
    /// The number of values that are absolute URLs in quotes or brackets.
    private(set) var wrappedURLs = 0
    /// The number of empty values.
    private(set) var blanks = 0
    private var images: Set<IconURL> = []
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
        let isNamed = name.utf8.count <= AppEntry.maxTextBytes
        hasDigests = hasDigests && Digest(hex: value.asciiLowercased) != nil
        if hasDigests, let url = draft.limits.iconBase?.url(ofFile: name), AppEntry.flaw(inIcon: url) == nil {
            images.insert(IconURL(url))
        }
        switch draft.limits.icon(value) {
        case .failure(let flaw):
            if flaw == .empty { blanks += 1 }
            if case .wrapped = flaw { wrappedURLs += 1 }
            draft.addUnusable(name: isNamed ? name : nil, id: nil, at: ListPath.key(key), flaw.description)
        case .success(let url):
            if draft.limits.isPlainURL(value) { urls += 1 }
            if !isNamed {
                draft.addProblem(ListPath.key(key), "its name is longer than \(AppEntry.maxTextBytes) bytes")
            }
            draft.add(AppEntry(name: isNamed ? name : nil, icon: url), at: ListPath.key(key))
        }
    }

    /// Records a value that is not a string as a problem.
    mutating func addOther(for key: String) {
        let name = AppEntry.trimmed(key)
        let isNamed = name.utf8.count <= AppEntry.maxTextBytes
        draft.addUnusable(name: isNamed ? name : nil, id: nil, at: ListPath.key(key), "not a string")
        hasDigests = false
    }

    /// The list, if a value tells that it is a URL, and one can be requested; the images, if all values are digests.
    var verdict: ListVerdict {
        let limit = draft.limits.maxEntries
        if urls + wrappedURLs > 0 {
            let isTooLong = draft.entries.count + draft.problemCount > limit
            return isTooLong ? .failure(.tooManyEntries(limit: limit)) : draft.verdict
        }
        guard hasDigests, draft.entries.count + draft.problemCount > 0 else { return .failure(.noKnownShape) }
        guard draft.limits.iconBase != nil else { return .failure(.noIconBase) }
        return images.count > limit ? .failure(.tooManyEntries(limit: limit)) : .success(AppList(images: images))
    }
}
