// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// How much text one list may come to.
///
/// A binary property list can say one long text many times in few bytes.
struct TextBudget {
    private let limit: ByteCount
    private var spent = 0

    init(_ limits: ListLimits) {
        limit = limits.maxText
    }

    /// Why the list is not accepted, if it came to more.
    var rejection: ListRejection? { spent > limit.bytes ? .tooMuchText(limit: limit) : nil }

    mutating func spend(_ text: String) {
        spent += text.utf8.count
    }
}
