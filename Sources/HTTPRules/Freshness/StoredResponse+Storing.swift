// SPDX-License-Identifier: Apache-2.0

extension StoredResponse {
    /// Whether `no-store` applies.
    ///
    /// `must-understand` overrides it if the status is understood (RFC 9111, section 5.2.2.3). `control` is the
    /// response's own ``cacheControl``.
    func forbidsStoring(_ control: CacheControl) -> Bool {
        control.flags.contains(.noStore) && !(control.flags.contains(.mustUnderstand) && isUnderstood)
    }

    /// Whether a heuristic lifetime is allowed (RFC 9111, section 4.2.2).
    ///
    /// `control` is the response's own ``cacheControl``.
    func mayBeGuessedFresh(_ control: CacheControl) -> Bool { isUnderstood || control.flags.contains(.public) }

    /// Whether the caching rules of the status are implemented.
    ///
    /// The statuses of RFC 9110, section 15.1, without 206, because parts are not stored.
    var isUnderstood: Bool {
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
    }
}
