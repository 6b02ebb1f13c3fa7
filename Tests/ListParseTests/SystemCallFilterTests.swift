// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
import ListParse
import Subprocess
import SystemPackage
import TestSupport
import Testing

@Suite("The sandbox of the parser")
struct SystemCallFilterTests {
    /// What came of each call: 0, or its `errno`.
    private struct Results {
        var filter: Int32 = -1
        var open: Int32 = 0
        var access: Int32 = 0
        var socket: Int32 = 0
        var spawn: Int32 = 0
        var kill: Int32 = 0
        var limit: Int32 = 0
        var read: Int32 = -1
        let descriptor: Int32
        let process = getpid()
    }

    private static var hasFilters: Bool {
        (try? ProcessStatus(of: getpid()))?["Seccomp"] != nil
    }

    /// Whether the programs have a sanitizer in them, which makes calls of its own and needs more than the limits leave.
    private static var isSanitized: Bool {
        #if SANITIZED
            true
        #else
            false
        #endif
    }

    @Test(
        "the system call filter refuses files, sockets, processes and signals, and allows open files",
        .enabled(if: hasFilters, "the kernel has no filters for system calls"),
        .disabled(if: isSanitized, "a sanitizer needs system calls"))
    func refused() throws {
        let pipe = try FileDescriptor.pipe()
        try pipe.writeEnd.closeAfter { _ = try pipe.writeEnd.writeAll([1]) }
        defer { try? pipe.readEnd.close() }
        var results = Results(descriptor: pipe.readEnd.rawValue)
        // The filter is the thread's, and ends with it.
        var thread = pthread_t()
        withUnsafeMutablePointer(to: &results) { results in
            let code = pthread_create(&thread, nil, { Self.tryAll($0) }, results)
            #expect(code == 0)
            pthread_join(thread, nil)
        }
        #expect(results.filter == 0)
        #expect(results.read == 1)
        let refused = [
            results.open, results.access, results.socket, results.spawn, results.kill, results.limit,
        ]
        #expect(refused == Array(repeating: EPERM, count: 6))
    }

    private static func tryAll(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let results = argument?.assumingMemoryBound(to: Results.self) else { return nil }
        var child = pid_t()
        var limit = rlimit()
        var byte: UInt8 = 0
        results.pointee.filter = SystemCallFilter.apply() ? 0 : errno
        results.pointee.open = open("/dev/null", O_RDONLY) < 0 ? errno : 0
        results.pointee.access = access("/", F_OK) < 0 ? errno : 0
        results.pointee.socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0) < 0 ? errno : 0
        results.pointee.spawn = posix_spawn(&child, "/bin/true", nil, nil, [nil], [nil])
        results.pointee.kill = kill(results.pointee.process, 0) < 0 ? errno : 0
        results.pointee.limit = getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) < 0 ? errno : 0
        results.pointee.read = Int32(read(results.pointee.descriptor, &byte, 1))
        return nil
    }
}

extension SystemCallFilterTests {
    @Test(
        "the parser has its limits and its system call filter before it reads a byte",
        .disabled(if: isSanitized, "a sanitizer needs memory and system calls"))
    func running() async throws {
        let result = try await Subprocess.run(
            .path(BuiltProducts.path("syncagent-parse")), input: .inputWriter, output: .discarded, error: .discarded
        ) { execution in
            let process = execution.processIdentifier.value
            // More than a pipe holds: this returns when the parser has begun to read.
            _ = try await execution.standardInputWriter.write([UInt8](repeating: 0x20, count: 1 << 17))
            let status = try ProcessStatus(of: process)
            #expect(status["NoNewPrivs"] == "1")
            if Self.hasFilters { #expect(status["Seccomp"] == "2") }
            let limits = try String(contentsOfFile: "/proc/\(process)/limits", encoding: .utf8)
            for (limit, value) in [
                ("Max address space", "536870912"), ("Max cpu time", "10"), ("Max core file size", "0"),
                ("Max open files", "0"), ("Max processes", "0"),
            ] {
                let line = limits.split(separator: "\n").first { $0.hasPrefix(limit) }
                #expect(line?.dropFirst(limit.count).split(separator: " ").first == value[...], "\(limit)")
            }
            try await execution.standardInputWriter.finish()
        }
        #expect(result.terminationStatus == .exited(0))
    }
}
