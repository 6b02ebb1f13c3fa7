// SPDX-License-Identifier: Apache-2.0
import CacheFormat

extension StoredResponse {
    /// The value for `If-Range`, which proves that later bytes are of the same image; `nil` if there is none.
    ///
    /// A strong tag, or, only if there is no tag at all, a strong last modification date (RFC 9110, section 13.1.5).
    /// One second before `Date` is strong if both come from the same clock, else the gap must be larger (section
    /// 8.8.2.2): this requires a minute, as RFC 7232 did.
    package var strongValidator: String? {
        guard fields.first("etag") == nil else { return entityTag.flatMap { $0.isStrong ? $0.text : nil } }
        guard let lastModified, let date = time("date"), date - lastModified >= .seconds(60) else { return nil }
        return fields.first("last-modified")
    }

    /// Whether the validators of a `206` are the same as those of this response, where present.
    package func isOfSameImage(as part: StoredResponse) -> Bool {
        ["etag", "last-modified"].allSatisfy { name in
            guard let value = part.fields.first(name) else { return true }
            return fields.first(name)?.utf8.elementsEqual(value.utf8) == true
        }
    }
}
