// SPDX-License-Identifier: Apache-2.0
import CacheFormat

extension StoredResponse {
    /// What proves that bytes which come later are of the same image, as `If-Range` has it; `nil` if nothing does.
    ///
    /// That is a strong tag, or, only where there is no tag at all, a date of the last change that is strong (RFC 9110,
    /// section 13.1.5). A second before `Date` makes it strong if both are known to be by one clock, and more of it if
    /// not (section 8.8.2.2): a minute is what RFC 7232 asked for.
    package var strongValidator: String? {
        guard fields.first("etag") == nil else { return entityTag.flatMap { $0.isStrong ? $0.text : nil } }
        guard let lastModified, let date = time("date"), date - lastModified >= .seconds(60) else { return nil }
        return fields.first("last-modified")
    }

    /// Whether the validators of a `206` are the ones of this response, as far as it has any.
    package func isOfSameImage(as part: StoredResponse) -> Bool {
        ["etag", "last-modified"].allSatisfy { name in
            guard let value = part.fields.first(name) else { return true }
            return fields.first(name)?.utf8.elementsEqual(value.utf8) == true
        }
    }
}
