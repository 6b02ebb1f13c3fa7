// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// What a `304` does to the response that it is about (RFC 9111, section 4.3.4).
package enum Freshening: Equatable, Sendable {
    case updated(StoredResponse)
    /// It names another version than the one at hand.
    ///
    /// Nothing may be updated with it. The image stays, and the request is to be sent again without conditions.
    case contradicted
    /// There was no validator to ask with, so that the server cannot know what has not been modified.
    case unasked
}

extension StoredResponse {
    /// This response, updated with the fields of a `304` to a request that carried its ``condition``.
    package func freshened(by fields: HTTPFields, requestTime: Timestamp, responseTime: Timestamp) -> Freshening {
        guard !validators.isEmpty else { return .unasked }
        let update = StoredResponse(fields: fields, requestTime: requestTime, responseTime: responseTime)
        guard isSelected(by: update) else { return .contradicted }
        return .updated(updated(by: update))
    }

    /// This response with the fields of a later one about the same image (RFC 9111, section 3.2).
    ///
    /// `Date` and `Age` are those of the later one even if it has none: they say when the fields were sent, which is
    /// now, and not when the image was.
    func updated(by update: StoredResponse) -> StoredResponse {
        StoredResponse(
            status: status, url: url, fields: fields.removing(["age", "date"]).updated(by: update.fields),
            requestTime: update.requestTime, responseTime: update.responseTime)
    }

    /// Whether the validators of a `304` are of this response.
    ///
    /// A `304` without a tag is taken to be: there is only one response that it can be about. One whose tag is new is
    /// not, unless the tag is weak and the date of the last change is the same: another tag may stand for other bytes.
    private func isSelected(by update: StoredResponse) -> Bool {
        guard let tag = update.entityTag else { return true }
        guard let own = entityTag else {
            return !tag.isStrong && lastModified != nil && update.lastModified == lastModified
        }
        return tag.matches(own)
    }
}
