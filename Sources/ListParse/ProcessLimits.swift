// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Resource limits of this process.
package enum ProcessLimits {
    /// The limit on address space, in bytes.
    private static let memory: rlim_t = 512 << 20
    /// The limit on CPU time, in seconds; then SIGXCPU is sent, and SIGKILL one second later.
    private static let processorTime: rlim_t = 10

    /// Sets the limits for the rest of the process's life; keeps limits that are already lower.
    ///
    /// Only the three standard descriptors stay open; no file can be opened and no process started. Without seccomp(2),
    /// the limits on descriptors and processes still prevent that.
    ///
    /// - Throws: ``ParserError`` if a limit cannot be set.
    package static func apply() throws(ParserError) {
        closefrom(STDERR_FILENO + 1)
        // The sanitizers map terabytes, and make their own system calls: see `Tests/Fuzz/sanitize`.
        #if !SANITIZED
            try lower(RLIMIT_AS, "RLIMIT_AS", to: memory, atMost: memory)
        #endif
        try lower(RLIMIT_CPU, "RLIMIT_CPU", to: processorTime, atMost: processorTime + 1)
        try lower(RLIMIT_CORE, "RLIMIT_CORE", to: 0, atMost: 0)
        try lower(RLIMIT_NOFILE, "RLIMIT_NOFILE", to: 0, atMost: 0)
        try lower(__RLIMIT_NPROC, "RLIMIT_NPROC", to: 0, atMost: 0)
        // A core dump handler would run despite RLIMIT_CORE (core(5)), and take time.
        guard process_control(PR_SET_DUMPABLE, 0, nil) == 0 else { throw failure("prctl(PR_SET_DUMPABLE)") }
        #if !SANITIZED
            _ = SystemCallFilter.apply()
        #endif
    }

    private static func lower(
        _ resource: __rlimit_resource, _ name: String, to soft: rlim_t, atMost hard: rlim_t
    ) throws(ParserError) {
        let resource = __rlimit_resource_t(resource.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { throw failure("getrlimit(\(name))") }
        limit.rlim_max = min(limit.rlim_max, hard)
        limit.rlim_cur = min(limit.rlim_cur, soft, limit.rlim_max)
        guard setrlimit(resource, &limit) == 0 else { throw failure("setrlimit(\(name))") }
    }

    private static func failure(_ call: String) -> ParserError { .failed(call: call, errno: errno) }
}
