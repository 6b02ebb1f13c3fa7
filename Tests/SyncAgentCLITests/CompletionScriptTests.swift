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

    @Test(
        "replaced texts are in the scripts of zsh and fish as often as expected",
        arguments: [
            (.zsh, CompletionScript.zshBeginning, CompletionScript.zshChanges, [1, 1]),
            // Three subcommands are offered after `config`.
            (.fish, CompletionScript.fishBeginning, CompletionScript.fishChanges, [1, 3]),
        ] as [(CompletionShell, String, [CompletionScript.Change], [Int])])
    func others(shell: CompletionShell, beginning: String, changes: [CompletionScript.Change], counts: [Int]) {
        let script = SyncAgentCommand.completionScript(for: shell)
        #expect(script.starts(withBytes: beginning), "it begins in another way")
        #expect(changes.map { Self.count($0.old, in: script) } == counts)
        let corrected = CompletionScript.corrected(script)
        for change in changes { #expect(corrected.contains(bytes: change.new)) }
    }

    @Test("other text is not changed", arguments: ["1.0", "#!/bin/bash\necho"])
    func text(_ text: String) { #expect(CompletionScript.corrected(text) == text) }
}

extension String {
    fileprivate func components(splitBy separator: String) -> [String] {
        replacing(bytes: separator, with: "\0").split(atByte: "\0", omittingEmpty: false)
    }
}
