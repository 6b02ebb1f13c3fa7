// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import SystemPackage

enum ProcessUsage {
    /// The current usage, under Prometheus' standard names; a value that the system does not give has no series.
    static func read() -> [MetricReading] {
        // proc_pid_statm(5): total and resident size, in pages.
        let pages = text("/proc/self/statm").split(atByte: " ").compactMap { Double($0) }
        let pageSize = Double(sysconf(Int32(_SC_PAGESIZE)))
        let folder = try? FileDescriptor.openFolder("/proc/self/fd")
        let files = try? folder.map { folder throws(Errno) in try FolderListing.names(in: folder.rawValue).count }
        var limit = rlimit()
        let hasLimit = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        return [
            .counter(
                "process_cpu_seconds_total", "CPU time of the agent, user and system.",
                AgentClock.processTime.map { $0 / .seconds(1) }, isVolatile: true),
            .gauge("process_start_time_seconds", "When the agent started, since 1970.", startTime),
            .gauge(
                "process_resident_memory_bytes", "Resident memory of the agent.",
                pages.count > 1 ? pages[1] * pageSize : nil, isVolatile: true),
            .gauge(
                "process_virtual_memory_bytes", "Virtual memory of the agent.",
                pages.count > 1 ? pages[0] * pageSize : nil, isVolatile: true),
            // The listing of /proc/self/fd itself uses a descriptor.
            .gauge("process_open_fds", "Open file descriptors of the agent.", files.map { $0 - 1 }, isVolatile: true),
            .gauge(
                "process_max_fds", "The agent's limit on open file descriptors.",
                hasLimit ? Double(limit.rlim_cur) : nil),
        ]
    }

    /// The start time of the process, in whole seconds since 1970; `nil` if it is unknown.
    private static let startTime: Double? = {
        let stat = text("/proc/self/stat")
        // Fields are counted after the name, which may contain anything; the 22nd is the start, in ticks since boot
        // (proc_pid_stat(5)).
        let fields = stat[(stat.utf8.lastIndex(of: UInt8(ascii: ")")) ?? stat.startIndex)...].split(atByte: " ")
        guard fields.count > 20, let ticks = Double(fields[20]) else { return nil }
        let age = AgentClock.timeSinceBoot / .seconds(1) - ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
        return (AgentClock.wallTime.sinceEpoch / .seconds(1) - age).rounded()
    }()

    private static func text(_ path: FilePath) -> String {
        String(decoding: (try? FileBytes.read(path)) ?? [], as: UTF8.self)
    }
}
