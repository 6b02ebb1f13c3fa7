// SPDX-License-Identifier: Apache-2.0

extension StoredResponse {
    /// Whether `no-store` counts: it does not beside `must-understand` if the status is understood
    /// (RFC 9111, section 5.2.2.3).
    ///
    /// It takes the response's ``cacheControl``.
    func forbidsStoring(_ control: CacheControl) -> Bool {
        control.flags.contains(.noStore) && !(control.flags.contains(.mustUnderstand) && isUnderstood)
    }

    /// Whether a lifetime may be guessed (RFC 9111, section 4.2.2).
    ///
    /// It takes the response's ``cacheControl``.
    func mayBeGuessedFresh(_ control: CacheControl) -> Bool { isUnderstood || control.flags.contains(.public) }

    /// Whether the status is one whose meaning to caches is known and followed: those of RFC 9110, section 15.1,
    /// without 206, because parts are not stored.
    var isUnderstood: Bool {
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
    }
}
