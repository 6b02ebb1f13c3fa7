// SPDX-License-Identifier: Apache-2.0
import SyncPlan

/// How much text one list may come to.
///
/// A binary property list can say one long text many times in few bytes.
struct TextBudget {
    static let limit = ParseRecord.maxBytes

    private var spent = 0

    var isSpent: Bool { spent > Self.limit.bytes }

    mutating func spend(_ text: String) {
        spent += text.utf8.count
    }
}
