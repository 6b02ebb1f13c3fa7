// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import IconCache
import SystemPackage

/// What this process takes of the system.
enum ProcessUsage {
    /// What can be told at the moment; what the system does not say is left out.
    static func read() -> [MetricReading] {
        var readings: [MetricReading] = []
        if let time = AgentClock.processTime {
            let seconds = time / .seconds(1)
            readings.append(MetricReading(.processCPU, seconds))
        }
        if let startTime { readings.append(MetricReading(.processStart, startTime)) }
        // proc_pid_statm(5): the whole size and the resident one, in pages.
        let pages = text("/proc/self/statm").split(atByte: " ").compactMap { Double($0) }
        if pages.count > 1 {
            let size = Double(sysconf(Int32(_SC_PAGESIZE)))
            readings.append(MetricReading(.processResident, pages[1] * size))
            readings.append(MetricReading(.processVirtual, pages[0] * size))
        }
        if let folder = try? FileDescriptor.openFolder("/proc/self/fd"),
            let files = try? FolderListing.names(in: folder.rawValue)
        {
            // One is that of the listing.
            readings.append(MetricReading(.processOpenFiles, Double(files.count - 1)))
        }
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            readings.append(MetricReading(.processMaxFiles, Double(limit.rlim_cur)))
        }
        return readings
    }

    /// When the process started, since 1970, in whole seconds; `nil` if that cannot be told.
    private static let startTime: Double? = {
        let stat = text("/proc/self/stat")
        // After the name, which may have anything in it; the 22nd field is the start, in ticks since boot
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
