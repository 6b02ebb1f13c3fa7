// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import IconCache
import SystemPackage

enum ProcessUsage {
    /// The current usage, without values that the system does not give.
    static func read() -> [MetricReading] {
        var readings: [MetricReading] = []
        if let time = AgentClock.processTime {
            let seconds = time / .seconds(1)
            readings.append(MetricReading(.processCPU, seconds))
        }
        if let startTime { readings.append(MetricReading(.processStart, startTime)) }
        // proc_pid_statm(5): total and resident size, in pages.
        let pages = text("/proc/self/statm").split(atByte: " ").compactMap { Double($0) }
        if pages.count > 1 {
            let size = Double(sysconf(Int32(_SC_PAGESIZE)))
            readings.append(MetricReading(.processResident, pages[1] * size))
            readings.append(MetricReading(.processVirtual, pages[0] * size))
        }
        if let folder = try? FileDescriptor.openFolder("/proc/self/fd"),
            let files = try? FolderListing.names(in: folder.rawValue)
        {
            // The listing itself uses one.
            readings.append(MetricReading(.processOpenFiles, Double(files.count - 1)))
        }
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            readings.append(MetricReading(.processMaxFiles, Double(limit.rlim_cur)))
        }
        return readings
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
