// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// The limit on the total text of one list: a few bytes of a binary property list can refer to one long text many
/// times.
struct TextBudget {
    private let limit: ByteCount
    private var spent = 0

    init(_ limits: ListLimits) {
        limit = limits.maxText
    }

    var rejection: ListRejection? { spent > limit.bytes ? .tooMuchText(limit: limit) : nil }

    mutating func spend(_ text: String) {
        spent += text.utf8.count
    }
}
