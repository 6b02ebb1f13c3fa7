// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import SyncPlan

@Suite("Reasons of pauses")
struct PauseReasonTests {
    @Test(
        "a reason is 1 to 64 characters, none of them a control character",
        arguments: [
            ("metered", true), ("a b", true), ("für später", true), (String(repeating: "ü", count: 64), true),
            ("", false), (String(repeating: "a", count: 65), false), ("a\nb", false), ("\u{7F}", false),
            ("\u{1B}[0m", false), ("a\u{9B}b", false),
        ])
    func reasons(text: String, isReason: Bool) {
        #expect(Pause.isReason(text) == isReason)
    }
}
