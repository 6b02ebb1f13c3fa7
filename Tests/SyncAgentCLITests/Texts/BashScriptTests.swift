// SPDX-License-Identifier: Apache-2.0
import SystemPackage
import TestSupport
import Testing

/// `EndToEndTests/ShellCompletionTests` types into a shell that has it.
@Suite("The completion script of bash")
struct BashScriptTests {
    @Test("the completion script of bash leaves no trap behind", .enabled(if: Tool.areInstalled("bash"), "takes bash"))
    func trap() async throws {
        let program = BuiltProducts.path("syncagent").string
        let script = try await Program.run(program, "--generate-completion-script", "bash").output
        #expect(!script.hasPrefix("#!"))
        let call = """
            COMP_WORDS=(syncagent stat) COMP_CWORD=1 COMP_LINE='syncagent stat' COMP_POINT=14
            __syncagent_whole_words syncagent stat syncagent
            echo "${COMPREPLY[@]}"; trap -p
            """
        let result = try await Program.run("bash", "-c", script + "\n" + call)
        #expect(result.output == "status\n", "\(result.messages)")
    }
}
