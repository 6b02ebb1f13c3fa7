// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// The effect of a `304` on the stored response (RFC 9111, section 4.3.4).
package enum Freshening: Equatable, Sendable {
    case updated(StoredResponse)
    /// The `304` names another version than the stored one.
    ///
    /// Update nothing, keep the image, and repeat the request without conditions.
    case contradicted
    /// The request had no validator, so the server cannot know which version the client has.
    case unasked
}

extension StoredResponse {
    /// This response, updated with a `304` to a request that carried its ``condition(at:)``.
    package func freshened(by update: StoredResponse) -> Freshening {
        guard let isSelected = isSelected(by: update) else { return .unasked }
        return isSelected ? .updated(updated(by: update)) : .contradicted
    }

    /// Whether the validators of a `304` belong to this response; `nil` if this response has none.
    ///
    /// A `304` without validators always does: there is only one response it can be about. One with another tag does
    /// not, as the tag may stand for other bytes, unless the tag is weak and the last modification date is the same.
    /// Without a tag, the date decides: a server that compares dates answers `304` for an older file too, and only the
    /// date in it tells that the file was replaced. A weak date is only that of the response which a cache on the way
    /// gave: with another `Date`, the cache has another response, perhaps with an image from the same second.
    private func isSelected(by update: StoredResponse) -> Bool? {
        let tag = update.entityTag
        if let own = entityTag {
            if let tag { return tag.matches(own) }
            guard let date = update.lastModified, let own = lastModified else { return true }
            return date == own
        }
        guard let own = lastModified else { return nil }
        if isFromCache, hasWeakDate, update.time("date") != time("date") { return false }
        let date = update.lastModified
        guard let tag else { return date == nil || date == own }
        return !tag.isStrong && date == own
    }
}
