// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import IconCache
import SystemPackage
import Testing

/// The processes and threads that there are, as /proc has them.
enum ProcessTree {
    /// The child of a process that runs the program; `nil` if there is none.
    static func child(of parent: pid_t, named name: String) throws -> pid_t? {
        try threads(of: parent).lazy.flatMap { thread in
            text("/proc/\(parent)/task/\(thread)/children").split(separator: " ").compactMap { pid_t($0) }
        }.first { pid in
            text("/proc/\(pid)/cmdline").prefix { $0 != "\0" }.hasSuffix(name)
        }
    }

    /// The numbers of a process's threads.
    static func threads(of process: pid_t) throws -> [pid_t] {
        let entries = try #require(opendir("/proc/\(process)/task"))
        defer { closedir(entries) }
        var numbers: [pid_t] = []
        while let entry = readdir(entries) {
            if let number = pid_t(String(cString: entry_name(entry))) { numbers.append(number) }
        }
        return numbers
    }

    /// What is in a file that may be gone.
    private static func text(_ path: String) -> String {
        String(decoding: (try? FileBytes.read(FilePath(path))) ?? [], as: UTF8.self)
    }
}
