// SPDX-License-Identifier: Apache-2.0
import Subprocess
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite(
    "Output on a terminal", .timeLimit(.minutes(15)),
    .enabled(if: Tool.areInstalled("script"), "script makes the terminal"))
struct TerminalTests {
    @Test("run --once shows its progress below the log of a terminal, and removes it at the end; a pipe gets none")
    func progress() async throws {
        try await World.with { world in
            try world.drop(["Mail", "Maps"])
            var world = world
            world.agent.runOptions = ["--allow-network", "127.0.0.0/8"]
            var terminal = try world.after(
                "exec script -qefc \"stty cols 80 rows 24; '\(BuiltProducts.path("syncagent"))' $*\" /dev/null")
            terminal.agent.environment["TERM"] = "xterm"
            let shown = try await terminal.agent.call("run", "--once")
            #expect(shown.code == 0, "\(shown.output)")
            let erasing = "\r\u{1B}[J"
            let progress = /(Reading the lists folder|\d of 1 list, .*)\r\x1B\[(1A\x1B\[)?J/
            #expect(shown.output.firstMatch(of: progress) != nil, "\(shown.output)")
            // What is left of each line. The terminal puts a return before each end of a line; the bar has its own.
            let whole = shown.output.replacing("\r\r\n", with: "\n").replacing("\r\n", with: "\n")
                // The bar, and the line below it.
                .replacing(/[^\n]*\n[^\n]*\r\x1B\[1A\x1B\[J/, with: "")
            let lines = whole.split(separator: "\n").compactMap {
                $0.split(separator: erasing, omittingEmptySubsequences: false).last.map(String.init)
            }.filter { !$0.isEmpty }
            #expect(lines.allSatisfy { $0.wholeMatch(of: /\d{4}-\S+Z info .*/) != nil }, "\(lines)")
            #expect(lines.contains { $0.contains(" info published ") }, "\(lines)")
            let piped = try await world.agent.call("run", "--once")
            #expect(piped.code == 0 && piped.messages.contains(" info stopped "), "\(piped.messages)")
            #expect(!piped.messages.contains("\u{1B}") && !piped.messages.contains("icons"), "\(piped.messages)")
        }
    }

    @Test("status fits a terminal of 24 rows and keeps the list that failed; a pipe gets all lists")
    func status() async throws {
        try await World.with { world in
            let gone = world.origin.baseURL + "/gone.png"
            world.origin.respond(to: "/gone.png", with: OriginReply(status: 404))
            for number in 1...40 { try world.agent.drop(propertyList([]), as: "\(number).plist") }
            try world.agent.drop(propertyList([("Gone", gone)]), as: "zoo.plist")
            #expect(try await world.agent.call("run", "--once").code == 1)
            var terminal = try world.after(
                "exec script -qefc \"stty cols 80 rows 24; '\(BuiltProducts.path("syncagent"))' $*\" /dev/null")
            terminal.agent.environment["TERM"] = "xterm"
            let shown = try await terminal.agent.call("status", "--color", "never")
            #expect(shown.code == 3, "\(shown.output)")
            let text = shown.output.replacing("\r\n", with: "\n")
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            let rows = lines.dropLast().reduce(0) { $0 + max(($1.count + 79) / 80, 1) }
            #expect(rows < 24, "\(lines)")
            #expect(lines.contains { $0.hasPrefix("zoo.plist") } && lines.contains { $0.hasSuffix(": syncagent list") })
            let piped = try await world.agent.call("status")
            #expect(piped.output.matches(of: #/\n\d+\.plist /#).count == 40, "\(piped.output)")
            expectContains(piped.output, "\n  the server answered 404\n  Open the URL in a browser.")
        }
    }

    @Test(
        "status --watch gives the terminal back when it is stopped, draws nothing in the background, and then goes on",
        .enabled(if: Tool.areInstalled("python3"), "python3 stops it as a shell does"), .timeLimit(.minutes(5)))
    func stopped() async throws {
        // Child: a shell with one job. Parent: the terminal.
        let shell = """
            import fcntl, os, pty, signal, struct, sys, termios
            shell, terminal = pty.fork()
            if shell == 0:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
                signal.signal(signal.SIGTTOU, signal.SIG_IGN)
                job = os.fork()
                if job == 0:
                    os.setpgid(0, 0)
                    os.tcsetpgrp(0, os.getpid())
                    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
                    os.execv(sys.argv[1], sys.argv[1:])
                def until_stopped(mark):
                    assert os.WIFSTOPPED(os.waitpid(job, os.WUNTRACED)[1])
                    os.tcsetpgrp(0, os.getpgrp())
                    os.write(1, mark)
                until_stopped(b"<stopped>")
                os.kill(job, signal.SIGCONT)
                os.kill(job, signal.SIGWINCH)
                os.kill(job, signal.SIGTSTP)
                until_stopped(b"<stopped in the background>")
                os.tcsetpgrp(0, job)
                os.kill(job, signal.SIGCONT)
                os.write(1, b"<exit %d>" % os.waitstatus_to_exitcode(os.waitpid(job, 0)[1]))
                os._exit(0)
            shown, after = b"", 0
            def until(mark):
                global shown, after
                while (found := shown.find(mark, after)) < 0:
                    shown += os.read(terminal, 4096)
                after = found + len(mark)
            until(b"\\x1b[J")
            os.write(terminal, b"\\x1a")
            until(b"<stopped in the background>")
            until(b"\\x1b[J")
            os.write(terminal, b"\\x03")
            until(b"<exit")
            print(shown.decode())
            """
        try await World.with { world in
            try await world.agent.whileRunning { _ in
                let socket = world.folder.appending("control.sock").string
                let watch = [BuiltProducts.path("syncagent").string, "status", "--watch", "--socket", socket]
                let result = try await Program.run(
                    ["python3", "-c", shell] + watch, environment: ["TERM": "xterm"])
                let (on, off) = ("\u{1B}[?1049h", "\u{1B}[?1049l")
                let marks = result.output.matches(of: /\x1B\[\?1049[hl]|<.*?>/).map { String($0.output) }
                #expect(
                    marks == [on, off, "<stopped>", "<stopped in the background>", on, off, "<exit 0>"],
                    "\(marks) \(result.messages)")
                #expect(result.output.contains("<stopped><stopped in"))
            }
        }
    }

    @Test(
        "an agent ends when the terminal is closed in which it was started",
        .enabled(if: Tool.areInstalled("python3"), "python3 closes the terminal"), .timeLimit(.minutes(5)))
    func closedTerminal() async throws {
        let closing = """
            import os, pty, sys
            process, terminal = pty.fork()
            if process == 0:
                os.execv(sys.argv[1], sys.argv[1:])
            log = b""
            while b" published " not in log:
                log += os.read(terminal, 4096)
            os.close(terminal)
            print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
            """
        try await withTemporaryFolder { folder in
            let folders = ["lists", "cache", "state", "socket"].flatMap { ["--\($0)", folder.appending($0).string] }
            let agent = [BuiltProducts.path("syncagent").string, "run", "--allow-root"] + folders
            let result = try await Program.run(["python3", "-c", closing] + agent)
            #expect(result.output == "0\n", "\(result.messages)")
        }
    }
}
