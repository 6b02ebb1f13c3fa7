// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

package struct EventRecord: Codable, Equatable, Sendable {
    package var id: Int
    package var time: String
    package var kind: String
    package var code: String?
    package var list: ListName?
    package var url: IconURL?
    /// The digest of a URL that is too long for an event; `by-url/` has a file of this name.
    package var urlSHA256: String?
    package var generation: Int?
    package var from: Int?
    package var through: Int?
    package var message: String
}
