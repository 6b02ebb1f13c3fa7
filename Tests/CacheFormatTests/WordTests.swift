// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Testing

@testable import CacheFormat

@Suite("A word that later versions may replace")
struct WordTests {
    private enum State: String { case ready, lastGood = "last-good" }

    @Test("a known word is its case, and an unknown word is kept as it is")
    func words() throws {
        let words = try JSONDecoder().decode([Word<State>].self, from: Data(#"["last-good", "later"]"#.utf8))
        #expect(words.map(\.known) == [.lastGood, nil] && words[0] == .lastGood && words[1] != .ready)
        #expect(words == ["last-good", "later"] && Word(State.ready) == "ready")
        #expect(JSON(words).text == #"[ "last-good", "later" ]"#)
        let absent: Word<State>? = nil
        #expect(absent != .ready)
    }
}
