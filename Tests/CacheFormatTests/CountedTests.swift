// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CacheFormat

@Suite("Numbers with a noun")
struct CountedTests {
    @Test(
        "a noun is singular after one, and plural after other numbers",
        arguments: [
            (0, "0 icons"), (1, "1 icon"), (2, "2 icons"), (10_000, "10,000 icons"), (1_204_000, "1,204,000 icons"),
        ])
    func plural(number: Int, expected: String) {
        #expect(counted(number, "icon") == expected)
    }
}
