// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// A dictionary of name → URL as an app list, in the natural order of the names; or of image → SHA-256, as Munki's `_icon_hashes.plist`.
struct NamedIcons {
    private var draft: ListDraft
    /// Whether a value is an absolute URL; any word can be a relative one.
    private var hasURL = false
    private var images: Set<IconURL> = []
    private var hasDigest = false
    /// The values that are no digests, as problems.
    private var imagesDraft: ListDraft

    init(limits: ListLimits) {
        draft = ListDraft(limits)
        imagesDraft = ListDraft(limits)
    }

    var rejection: ListRejection? { draft.rejection }

    mutating func add(_ value: String, for name: String) {
        draft.count(value)
        draft.count(name)
        let isNamed = name.utf8.count <= AppEntry.maxTextBytes
        if Digest(hex: value.asciiLowercased) == nil {
            imagesDraft.addProblem(ListPath.key(name), ListDraft.noDigest)
        } else {
            hasDigest = true
            let url = draft.limits.iconBase?.url(ofFile: name)
            if let url, AppEntry.flaw(inIcon: url) == nil { images.insert(IconURL(url)) }
        }
        switch draft.limits.icon(value) {
        case .failure(let flaw):
            draft.addProblem(ListPath.key(name), flaw.description)
        case .success(let url):
            hasURL = hasURL || AppEntry.flaw(inIcon: value) == nil
            if !isNamed {
                draft.addProblem(ListPath.key(name), "its name is longer than \(AppEntry.maxTextBytes) bytes")
            }
            draft.add(AppEntry(name: isNamed ? name : nil, icon: url))
        }
    }

    /// Records a value that is not a string as a problem.
    mutating func addOther(for name: String) {
        draft.addProblem(ListPath.key(name), "not a string")
        imagesDraft.addProblem(ListPath.key(name), "not a string")
    }

    /// The list, if a value is an absolute URL; the images, if none is, and some are digests.
    var verdict: ListVerdict {
        let limit = draft.limits.maxEntries
        if hasURL {
            let isTooLong = draft.entries.count + draft.problemCount > limit
            return isTooLong ? .failure(.tooManyEntries(limit: limit)) : .success(draft.list)
        }
        guard hasDigest else { return .failure(.noKnownShape) }
        guard draft.limits.iconBase != nil else { return .failure(.noIconBase) }
        guard images.count + imagesDraft.problemCount <= limit else { return .failure(.tooManyEntries(limit: limit)) }
        var list = imagesDraft.list
        list.images = images
        return .success(list)
    }
}
