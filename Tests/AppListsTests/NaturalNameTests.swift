// SPDX-License-Identifier: Apache-2.0
import AppLists
import Testing

@Suite("Names as people sort them")
struct NaturalNameTests {
    @Test(
        "numbers count as numbers, and letters without their case",
        arguments: [
            ["App 2", "App 10", "App 10 b"], ["a1b2", "a1b10", "a2b1"], ["apple", "Banana", "cherry"],
            ["", "0", "1", "01x", "1y", "2", "99999999999999999999", "100000000000000000000"], ["A", "a", "B", "b"],
            ["1", "a"], ["x", "x1"], ["Mail", "Maps", "Über", "é"], ["01", "1"], ["a01", "a1", "a1b", "a02"],
        ])
    func order(names: [String]) {
        #expect(names.reversed().sorted { NaturalName($0) < NaturalName($1) } == names)
        for name in names { #expect(!(NaturalName(name) < NaturalName(name))) }
    }
}
