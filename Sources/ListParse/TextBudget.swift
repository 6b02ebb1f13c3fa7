// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// The limit on the total size of the texts of one list.
///
/// A binary property list can refer to one long text many times in a few bytes.
struct TextBudget {
    private let limit: ByteCount
    private var spent = 0

    init(_ limits: ListLimits) {
        limit = limits.maxText
    }

    /// The rejection, if the limit is exceeded.
    var rejection: ListRejection? { spent > limit.bytes ? .tooMuchText(limit: limit) : nil }

    mutating func spend(_ text: String) {
        spent += text.utf8.count
    }
}
