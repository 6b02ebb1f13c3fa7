// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("Processes of the helper programs", .timeLimit(.minutes(5)))
struct HelperProcessTests {
    private static let patience: Duration = .seconds(240)

    /// Nothing came in time.
    private struct Late: Error {}

    /// How a process is to be told to have ended, and what it wrote.
    struct End: Equatable, Sendable, CustomTestStringConvertible {
        var exit: HelperProcess.Exit
        var output = ""
        var message = ""

        var testDescription: String { "\(exit), \(output.utf8.count) bytes “\(output.prefix(20))”, “\(message)”" }
    }

    @Test(
        "a helper process is reported with its exit and all that it wrote, to the last byte",
        arguments: [
            ("exit 0", End(exit: .code(0))), ("exit 255", End(exit: .code(255))),
            ("echo out; echo error >&2; exit 3", End(exit: .code(3), output: "out\n", message: "error\n")),
            ("kill -TERM $$", End(exit: .signal(SIGTERM))), ("kill -KILL $$", End(exit: .signal(SIGKILL))),
            ("kill -PIPE $$", End(exit: .signal(SIGPIPE))),
            (
                "head -c 300000 /dev/zero | tr '\\0' x",
                End(exit: .code(0), output: String(repeating: "x", count: 300_000))
            ),
            ("exec >&-; echo late >&2; exit 4", End(exit: .code(4), message: "late\n")),
            // One that lives on has its output open.
            ("sleep 600 & echo $!; exit 5", End(exit: .code(5), output: "PID\n")),
        ])
    func ends(script: String, end: End) throws {
        let process = try shell(script)
        var (output, message): ([UInt8], [UInt8]) = ([], [])
        reading: while true {
            switch process.next(by: .now + Self.patience) {
            case .output(let bytes): output += bytes
            case .message(let bytes): message += bytes
            case .outputEnded: continue
            case .ended: break reading
            case .late: throw Late()
            }
        }
        let exit = process.end()
        var text = String(decoding: output, as: UTF8.self)
        if end.output == "PID\n" {
            kill(try #require(pid_t(text.dropLast())), SIGKILL)
            text = "PID\n"
        }
        #expect(End(exit: exit, output: text, message: String(decoding: message, as: UTF8.self)) == end)
        #expect(process.end() == exit)
    }

    @Test(
        "a helper that does not end in time is late, and is killed and reaped at its end",
        arguments: ["", "trap '' TERM; "])
    func late(preparation: String) throws {
        let process = try shell("\(preparation)echo $$; exec sleep 600")
        guard case .output(let text) = process.next(by: .now + Self.patience) else { throw Late() }
        #expect(process.next(by: .now + .milliseconds(50)) == .late)
        #expect(process.next(by: .now) == .late)
        #expect(process.end(within: .milliseconds(10)) == .signal(SIGKILL))
        #expect(kill(try #require(pid_t(String(decoding: text, as: UTF8.self).dropLast())), 0) == -1)
    }

    @Test("a helper that writes all the time is late too")
    func endless() throws {
        let process = try shell("exec cat /dev/zero")
        let deadline = ContinuousClock.now + .milliseconds(100)
        while process.next(by: deadline) != .late {}
        #expect(process.end() == .signal(SIGKILL))
    }

    @Test("a helper process that nothing refers to is killed and reaped")
    func forgotten() throws {
        var process: HelperProcess? = try shell("echo $$; exec sleep 600")
        let event = process?.next(by: .now + Self.patience)
        process = nil
        guard case .output(let text) = event else { throw Late() }
        #expect(kill(try #require(pid_t(String(decoding: text, as: UTF8.self).dropLast())), 0) == -1)
    }

    @Test("a program that cannot be executed is an error that says why")
    func noProgram() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appending("file")
            try "no program".write(toFile: file.string, atomically: false, encoding: .utf8)
            for (path, errno) in [
                (folder.appending("missing"), Errno.noSuchFileOrDirectory), (file, .permissionDenied),
                (folder, .permissionDenied), (file.appending("x"), .notDirectory),
            ] {
                #expect(throws: errno) { _ = try HelperProcess(path, []) }
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.string)
            #expect(throws: Errno.execFormatError) { _ = try HelperProcess(file, []) }
        }
    }

    @Test("a helper gets its input; sending to an ended one is no error; its input ends with the reference to it")
    func channel() throws {
        var process: HelperProcess? = try shell("head -c 2; exec >&-; cat >/dev/null; exit 6")
        process?.send("a")
        process?.send("b")
        var output: [UInt8] = []
        while case .output(let bytes) = process?.next(by: .now + Self.patience) { output += bytes }
        #expect(output == Array("ab".utf8))
        process?.end()
        process?.send("c")
        process = nil
    }

    @Test("a helper reads its input from the first byte to the last, and then its end", arguments: [0, 1, 1_000_000])
    func bytes(count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let process = try shell("exec cat")
        process.send(bytes)
        var output: [UInt8] = []
        while case .output(let bytes) = process.next(by: .now + Self.patience) { output += bytes }
        #expect(output == bytes)
        #expect(process.end(within: Self.patience) == .code(0))
    }

    @Test(
        "a helper that does not read all of its input is reported like any other",
        arguments: ["exit 7", "exec sleep 600"])
    func unread(script: String) throws {
        let process = try shell(script)
        process.send([UInt8](repeating: 0, count: 1_000_000))
        var event = process.next(by: .now + (script == "exit 7" ? Self.patience : .milliseconds(100)))
        while event == .outputEnded { event = process.next(by: .now + Self.patience) }
        #expect(event == (script == "exit 7" ? .ended : .late))
        #expect(process.end() == (script == "exit 7" ? .code(7) : .signal(SIGKILL)))
    }

    @Test("a helper blocks and ignores no signal, whatever is blocked or ignored in the agent")
    func signals() throws {
        signal(SIGPIPE, SIG_IGN)
        var blocked = sigset_t()
        sigfillset(&blocked)
        var before = sigset_t()
        pthread_sigmask(SIG_BLOCK, &blocked, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let process = try shell("grep -E '^Sig(Blk|Ign)' /proc/self/status")
        guard case .output(let text) = process.next(by: .now + Self.patience) else { throw Late() }
        let sets = String(decoding: text, as: UTF8.self).split(separator: "\n")
            .compactMap { $0.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } }
        // The C library has two signals of its own, 32 and 33.
        #expect(sets.map { $0 & 0x7fff_ffff } == [0, 0])
    }

    private func shell(_ script: String) throws -> HelperProcess {
        try HelperProcess("/bin/sh", ["-c", script], hasMessages: true)
    }
}
