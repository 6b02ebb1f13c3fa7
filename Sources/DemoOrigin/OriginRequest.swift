// SPDX-License-Identifier: Apache-2.0

/// One request that the origin received, as a script sees it.
package struct OriginRequest: Sendable {
    /// The method, in upper case as it was sent: `GET`.
    package var method: String

    /// The path as it was sent, still percent-encoded, without the query.
    package var path: String

    /// What stood behind the `?`, as it was sent; `nil` if there was none.
    package var query: String?

    /// Each header's values, joined with `, `, by lower-case name.
    package var headers: [String: String]

    /// Which request of this path it is, counted from 1.
    package var number: Int

    /// The value of a parameter of the query; `nil` if it is not there.
    func parameter(_ name: String) -> Substring? {
        for pair in query?.split(separator: "&") ?? [] {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, parts[0] == name { return parts[1] }
        }
        return nil
    }
}
