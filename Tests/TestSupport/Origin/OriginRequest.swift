// SPDX-License-Identifier: Apache-2.0

/// A request that the origin received.
package struct OriginRequest: Sendable {
    /// As sent, such as `GET`.
    package var method: String

    /// As sent: percent-encoded, without the query.
    package var path: String

    /// As sent, without the `?`; `nil` if there is none.
    package var query: String?

    /// The values of each header field, joined with `, `, by lower-case name.
    package var headers: [String: String]

    /// The number of this request among those for its path, from 1.
    package var number: Int

    func parameter(_ name: String) -> Substring? {
        for pair in query?.split(separator: "&") ?? [] {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, parts[0] == name { return parts[1] }
        }
        return nil
    }
}
