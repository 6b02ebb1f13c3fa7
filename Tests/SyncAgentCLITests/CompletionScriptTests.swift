// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CacheFormat
import Testing

@testable import SyncAgentCLI

/// If one of these fails with a new version of ArgumentParser, read its scripts, and adapt `CompletionScript`.
@Suite("The texts that are replaced in the scripts of ArgumentParser")
struct CompletionScriptTests {
    private static func count(_ text: String, in script: String) -> Int { script.components(splitBy: text).count - 1 }

    @Test("replaced texts are in the script of bash as often as expected")
    func bash() {
        let script = SyncAgentCommand.completionScript(for: .bash)
        #expect(script.starts(withBytes: CompletionScript.bashBeginning), "it begins in another way")
        #expect(script.ends(withBytes: CompletionScript.bashEnd), "it ends in another way")
        for change in CompletionScript.bashChanges {
            #expect(Self.count(change.old, in: script) == 1, "not there exactly once: \(change.old)")
        }
        // The program is asked for words wherever the shell offers them.
        let offers = Self.count("__syncagent_custom_complete ---completion", in: script)
        #expect(offers > 20 && Self.count(CompletionScript.bashOffer.old, in: script) == offers, "\(offers) offers")
        let corrected = CompletionScript.corrected(script)
        #expect(corrected != script && Self.count(CompletionScript.bashOffer.new, in: corrected) == offers)
        #expect(!corrected.contains(bytes: CompletionScript.bashOffer.old))
    }

    @Test("the replaced text is in the script of zsh once")
    func zsh() {
        let script = SyncAgentCommand.completionScript(for: .zsh)
        #expect(script.starts(withBytes: "#compdef "), "it begins in another way")
        let old = CompletionScript.zshChange.old
        #expect(Self.count(old, in: script) == 1, "not there exactly once: \(old)")
        #expect(CompletionScript.corrected(script) != script)
    }

    @Test("the script of fish, and other text, is not changed")
    func others() {
        for text in [SyncAgentCommand.completionScript(for: .fish), "1.0", "#!/bin/bash\necho"] {
            #expect(CompletionScript.corrected(text) == text)
        }
    }
}

extension String {
    fileprivate func components(splitBy separator: String) -> [String] {
        replacing(bytes: separator, with: "\0").split(atByte: "\0", omittingEmpty: false)
    }
}
