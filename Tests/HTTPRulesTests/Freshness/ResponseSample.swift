// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FuzzTargets
import HTTPRules

extension Sample {
    /// The date that many seconds after ``start``.
    static func date(_ seconds: Int) -> String { HTTPDate.format(start + .seconds(seconds)) }

    /// A response that was asked for at ``start`` and came at once.
    static func response(_ fields: [(name: String, value: String)], status: Int = 200) -> StoredResponse {
        StoredResponse(status: status, fields: HTTPFields(fields), requestTime: start, responseTime: start)
    }

    /// The same behind a redirect that is fresh for so many seconds.
    static func redirected(_ fields: [(name: String, value: String)], for seconds: Int) -> StoredResponse {
        StoredResponse(
            fields: HTTPFields(fields), requestTime: start, responseTime: start, redirectLifetime: .seconds(seconds))
    }
}
