// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The effect of a `304` on the stored response (RFC 9111, section 4.3.4).
package enum Freshening: Equatable, Sendable {
    case updated(StoredResponse)
    /// It names another version than the stored one.
    ///
    /// Update nothing, keep the image, and repeat the request without conditions.
    case contradicted
    /// The request had no validator, so the server cannot know what has not been modified.
    case unasked
}

extension StoredResponse {
    /// This response, updated with the fields of a `304` to a request that carried its ``condition(at:)``.
    package func freshened(by fields: HTTPFields, requestTime: Timestamp, responseTime: Timestamp) -> Freshening {
        guard !validators.isEmpty else { return .unasked }
        let update = StoredResponse(fields: fields, requestTime: requestTime, responseTime: responseTime)
        guard isSelected(by: update) else { return .contradicted }
        return .updated(updated(by: update))
    }

    /// This response, updated with the fields of a later one about the same image (RFC 9111, section 3.2).
    ///
    /// `Date` and `Age` are always those of the later response, even if missing there: they describe when the fields
    /// were sent, not when the image was.
    func updated(by update: StoredResponse) -> StoredResponse {
        StoredResponse(
            status: status, url: url, fields: fields.removing(["age", "date"]).updated(by: update.fields),
            requestTime: update.requestTime, responseTime: update.responseTime)
    }

    /// Whether the validators of a `304` belong to this response.
    ///
    /// A `304` without validators always does: there is only one response it can be about. One with another tag does
    /// not, as the tag may stand for other bytes, unless the tag is weak and the last modification date is the same.
    /// Without a tag, the date decides: a server that compares dates answers `304` for an older file too, and only the
    /// date in it tells that the file was replaced. A weak date is only that of the response which a cache on the way
    /// gave: with another `Date`, the cache has another response, perhaps with an image from the same second.
    private func isSelected(by update: StoredResponse) -> Bool {
        if entityTag == nil, hasWeakDate, isFromCache, update.time("date") != time("date") { return false }
        guard let tag = update.entityTag else {
            guard let date = update.lastModified, let own = lastModified else { return true }
            return date == own
        }
        guard let own = entityTag else {
            return !tag.isStrong && lastModified != nil && update.lastModified == lastModified
        }
        return tag.matches(own)
    }
}
