// SPDX-License-Identifier: Apache-2.0
import CacheFormat

extension StoredResponse {
    /// The value for `If-Range`, which proves that later bytes are of the same image; `nil` if there is none.
    ///
    /// A strong tag, or, only if there is no tag at all, a strong last modification date (RFC 9110, section 13.1.5).
    /// One second before `Date` is strong if both come from the same clock, else the gap must be larger (section
    /// 8.8.2.2): this requires a minute, as RFC 7232 did. An empty tag is the same for all images of some servers.
    package var strongValidator: String? {
        guard fields.first("etag") == nil else {
            return entityTag.flatMap { $0.isStrong && !$0.isEmpty ? $0.text : nil }
        }
        guard let lastModified, let date = time("date"), date - lastModified >= .seconds(60) else { return nil }
        return fields.first("last-modified")
    }

    /// Whether the fields of a `206` prove that its bytes are of the same image as this response.
    ///
    /// They must repeat the validator once: a server may ignore `If-Range`, and one that obeys it must send the tag
    /// (RFC 9110, section 15.3.7). The other validator must be the same if it is there.
    package func isOfSameImage(as part: HTTPFields) -> Bool {
        let proof = fields.first("etag") == nil ? "last-modified" : "etag"
        return ["etag", "last-modified"].allSatisfy { name in
            let values = part[name]
            if values.isEmpty { return name != proof }
            return values.count == 1 && fields.first(name)?.utf8.elementsEqual(values[0].utf8) == true
        }
    }
}
