// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("The process of syncagent-parse")
struct ParseHelperTests {
    private let helper = ParseHelper(executable: BuiltProducts.path("syncagent-parse"), timeout: .seconds(60))

    @Test(
        "a list is parsed, however often, also by a parser that was started ahead",
        arguments: [false, true])
    func list(isPrepared: Bool) async throws {
        var list = AppList(
            entries: [AppEntry(name: "Mail", icon: "http://e.org/a")],
            problems: [EntryProblem(keyPath: "[1]", reason: "relative URL, and lists.iconBaseURL is not set")])
        list.unusable = [UnusableEntry(index: 1, name: nil, id: nil, keyPath: "[1]")]
        for _ in 1...3 {
            if isPrepared { await helper.prepare() }
            #expect(await helper.parse("({icon = http://e.org/a; name = Mail;}, 12)") == .success(list))
        }
    }

    @Test("the parser reads a URL that needs the slow path, which its first run does not initialize")
    func oddURL() async {
        let list = AppList(entries: [AppEntry(icon: "http://e.org/a b")])
        #expect(await helper.parse("({icon = \"http://e.org/a b\";})") == .success(list))
    }

    @Test("the limits and the icon keys reach the parser")
    func limits() async throws {
        let executable = BuiltProducts.path("syncagent-parse")
        let base = try #require(IconBase("http://e.org/icons"))
        let limits = ListLimits(maxBytes: ByteCount(20), maxEntries: 1, iconKeys: ["logo"], iconBase: base)
        let helper = ParseHelper(executable: executable, limits: limits, timeout: .seconds(60))
        #expect(await helper.parse("({logo=http://a;})").map(\.entries.count) == .success(1))
        #expect(
            await helper.parse("({icon_name = A;})").map { $0.entries.map(\.icon) }
                == .success(["http://e.org/icons/A.png"]))
        #expect(await helper.parse("(u:1, u:2)") == .failure(.tooManyEntries(limit: 1)))
        #expect(await helper.parse("(http://e.org/123456)") == .failure(.tooLarge(limit: ByteCount(20))))
        let few = ParseHelper(
            executable: executable, limits: ListLimits(maxBytes: ByteCount(500)), timeout: .seconds(60))
        #expect(await few.parse(BinaryList.doubling(levels: 8)) == .failure(.tooManyValues(limit: 500)))
    }

    @Test(
        "a list that is beyond a limit, or wrong, is rejected by the parser", arguments: RefusedList.all.indices,
        [false, true])
    func refused(index: Int, isPrepared: Bool) async throws {
        let refused = RefusedList.all[index]
        if isPrepared { await helper.prepare() }
        let verdict = await helper.parse(refused.bytes)
        let rejection = try #require(throws: ListRejection.self, "\(refused.name)") { try verdict.get() }
        let codes: [ListRejection.Code] = [.notAPropertyList, .noKnownShape, .tooDeep]
        #expect(codes.contains(rejection.code), "\(refused.name)")
    }

    @Test("a parser started ahead runs once, takes one file, and ends when it is dismissed")
    func prepared() async throws {
        try await withScript("echo $$ >> \"$0.pid\"; exec cat") { script in
            let helper = ParseHelper(executable: script, timeout: .seconds(60))
            func pids() throws -> [pid_t] {
                try String(contentsOfFile: "\(script).pid", encoding: .utf8).split(separator: "\n").compactMap {
                    pid_t($0)
                }
            }
            await helper.prepare()
            await helper.prepare()
            let verdict = AppList(entries: [AppEntry(icon: "http://e.org/a")])
            for count in 1...2 {
                #expect(await helper.parse(ParseRecord.encode(.success(verdict))) == .success(verdict))
                let started = try pids().count
                #expect(started == count)
            }
            await helper.prepare()
            try await waitUntil { try pids().count == 3 }
            await helper.dismiss()
            let left = try pids().filter { kill($0, 0) == 0 }
            #expect(left.isEmpty)
        }
    }

    @Test("a file gets another parser if the one started ahead has ended")
    func endedAhead() async throws {
        try await withScript("[ -e \"$0.pid\" ] && exec cat; echo $$ > \"$0.pid\"; kill -KILL $$") { script in
            let helper = ParseHelper(executable: script, timeout: .seconds(60))
            await helper.prepare()
            try await waitUntil { pid(of: script).map { kill($0, 0) != 0 || isZombie($0) } ?? false }
            #expect(await helper.parse(ParseRecord.encode(.success(AppList()))) == .success(AppList()))
        }
    }

    @Test("a parser started ahead takes no descriptors from the list that it is for")
    func descriptors() async {
        await #expect(processExitsWith: .success) {
            let helper = ParseHelper(executable: BuiltProducts.path("syncagent-parse"), timeout: .seconds(60))
            for free in 20...30 {
                for isPrepared in [false, true] {
                    let verdict = try await withDescriptors(free) {
                        if isPrepared { await helper.prepare() }
                        return await helper.parse("()")
                    }
                    await helper.dismiss()
                    let isRead = verdict == .success(AppList())
                    #expect(isRead == (free >= 24), "\(free), \(isPrepared)")
                }
            }
        }
    }

    private func isZombie(_ process: pid_t) -> Bool {
        (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8))?.contains(") Z ") ?? true
    }

    @Test(
        "the signal that the parser died of is named",
        arguments: ["ABRT", "BUS", "FPE", "ILL", "SEGV", "TRAP"])
    func signal(name: String) async throws {
        try await withScript("cat >/dev/null; kill -\(name) $$") { script in
            let helper = ParseHelper(executable: script, timeout: .seconds(60))
            #expect(await helper.parse("()") == .failure(.parserDied(signal: "SIG\(name)")))
        }
    }

    @Test("a parser that has used up its CPU time has timed out")
    func processorTime() async throws {
        try await withScript("ulimit -S -t 1; while :; do :; done") { script in
            let helper = ParseHelper(executable: script, timeout: .seconds(600))
            #expect(await helper.parse("()") == .failure(.parserTimeout(limit: "its CPU time limit")))
        }
    }

    @Test("a parser that hangs is killed and reaped when its time is over")
    func timeout() async throws {
        try await withScript("echo $$ > \"$0.pid\"; while :; do :; done") { script in
            // A busy machine may not even start the parser within a short time.
            try await withGrowingTime(from: .milliseconds(300)) { time in
                let verdict = await ParseHelper(executable: script, timeout: time).parse("()")
                #expect(verdict == .failure(.parserTimeout(limit: DurationText.format(time))))
                guard pid(of: script) != nil else { return false }
                try expectGone(script)
                return true
            }
        }
    }

    @Test("a parser is killed and reaped when its task is cancelled")
    func cancellation() async throws {
        try await withScript("echo $$ > \"$0.pid\"; while :; do :; done") { script in
            let task = Task { await ParseHelper(executable: script, timeout: .seconds(600)).parse("()") }
            try await waitUntil { pid(of: script) != nil }
            task.cancel()
            #expect(await task.value == .failure(.cancelled))
            try expectGone(script)
        }
    }

    @Test(
        "a parser that fails or talks nonsense gives a rejection that says so",
        arguments: [
            ("exit 3", .parserFailed(status: 3)), ("kill -KILL $$", .parserKilled(signal: "SIGKILL")),
            ("echo hello", .parserNonsense), ("exit 0", .parserNonsense), ("exec cat /dev/zero", .parserNonsense),
            ("printf 'syncagent-list 6\\nR16:out-of-resources\\n.\\n'", .parserNonsense),
            ("printf 'syncagent-list 6\\nR12:no-such-code\\n.\\n'", .parserNonsense),
            ("printf 'syncagent-list 6\\nR8:too-deep2:32\\n.\\n'", .tooDeep(limit: 32)),
        ] as [(String, ListRejection)])
    func failures(body: String, rejection: ListRejection) async throws {
        try await withScript(body) { script in
            let helper = ParseHelper(executable: script, timeout: .seconds(60))
            #expect(await helper.parse("()") == .failure(rejection))
        }
    }

    @Test("a missing parser is not reported as a fault of the list")
    func missing() async throws {
        let verdict = await ParseHelper(executable: "/nonexistent/syncagent-parse").parse("()")
        let rejection = try #require(throws: ListRejection.self) { try verdict.get() }
        #expect(rejection.code == .parserUnavailable)
    }

    @Test("the parser inherits its list and nothing else from the agent", .disabled(if: isSanitized, sanitizerNote))
    func inheritance() async throws {
        // One that is not closed on exec.
        let leaked = try FileDescriptor.open("/dev/null", .readOnly)
        defer { try? leaked.close() }
        try await withScript("ls /proc/self/fd > \"$0.out\"; env >> \"$0.out\"; exit 3") { script in
            _ = await ParseHelper(executable: script, timeout: .seconds(60)).parse("()")
            let output = try String(contentsOfFile: "\(script).out", encoding: .utf8).split(separator: "\n")
            // The shell adds PWD, SHLVL and _; ls itself has the folder open as 3.
            #expect(Set(output.prefix(4)) == ["0", "1", "2", "3"])
            let variables = Set(output.dropFirst(4).compactMap { $0.split(separator: "=").first })
            #expect(variables.subtracting(["PWD", "SHLVL", "_", "OLDPWD"]) == ["SWIFT_BACKTRACE", "LIBDISPATCH_LOG"])
        }
    }

    /// The process that the script runs in, once it has said so.
    private func pid(of script: FilePath) -> pid_t? {
        // The line is there in full once it has its end.
        guard let text = try? String(contentsOfFile: "\(script).pid", encoding: .utf8), text.hasSuffix("\n") else {
            return nil
        }
        return pid_t(text.dropLast())
    }

    private func expectGone(_ script: FilePath) throws {
        #expect(kill(try #require(pid(of: script)), 0) == -1)
    }
}

extension ParseHelper {
    fileprivate func parse(_ text: String) async -> ListVerdict { await parse(Array(text.utf8)) }
}

/// Runs the body while this process can open so many files.
private func withDescriptors<R>(_ free: Int, _ body: () async -> R) async throws -> R {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    try #require(getrlimit(resource, &limit) == 0)
    var (number, unused): (CInt, Int) = (0, 0)
    while unused < free {
        if fcntl(number, F_GETFD) < 0 { unused += 1 }
        number += 1
    }
    var low = rlimit(rlim_cur: rlim_t(number), rlim_max: limit.rlim_max)
    try #require(setrlimit(resource, &low) == 0)
    let result = await body()
    try #require(setrlimit(resource, &limit) == 0)
    return result
}

/// Runs the body with a shell script of this body, in a folder of its own.
private func withScript(_ text: String, _ body: (FilePath) async throws -> Void) async throws {
    try await withTemporaryFolder { folder in try await body(makeScript(text, in: folder)) }
}
