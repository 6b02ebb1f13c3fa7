// SPDX-License-Identifier: Apache-2.0

/// One call in the output of `strace -f -y`: `811 linkat(9</cache>, "staging/1", 9</cache>, "manifest.json", 0) = 0`.
struct TracedCall {
    let thread: Substring
    let name: Substring
    /// The last path among the arguments, else what the first descriptor leads to.
    let file: Substring
    /// The arguments and the result.
    let text: Substring

    /// - Returns: `nil` if the line tells of no call, or of one without a file.
    init?(_ line: Substring) {
        thread = line.prefix { $0.isNumber }
        let call = line[thread.endIndex...].drop { $0 == " " }
        guard call.first?.isLetter == true, let start = call.firstIndex(of: "(") else { return nil }
        name = call[..<start]
        text = call[start...]
        // What is written is shown in quotes too.
        let path = Self.takingPaths.contains(name) ? text.split(separator: "\"", omittingEmptySubsequences: false) : []
        if path.count >= 3 {
            file = path[path.count - 2]
        } else {
            guard let start = text.firstIndex(of: "<"), let end = text[start...].firstIndex(of: ">") else { return nil }
            file = text[text.index(after: start)..<end]
        }
    }

    private static let takingPaths: Set<Substring> = [
        "open", "openat", "creat", "mkdir", "mkdirat", "link", "linkat", "rename", "renameat", "renameat2", "unlink",
        "unlinkat",
    ]

    /// The calls that change files or folders, or make changes durable, as strace takes them: `?` where not every machine
    /// has the call.
    static let changing = [
        "?open", "openat", "?creat", "?mkdir", "mkdirat", "?link", "linkat", "?rename", "?renameat", "renameat2",
        "?unlink", "unlinkat", "write", "writev", "pwrite64", "pwritev", "ftruncate", "fallocate", "fsync", "fdatasync",
        "syncfs", "?sync_file_range", "msync", "fchmod", "close",
    ]

    /// Whether it has changed something, or made something durable, for all that one can tell from itself alone.
    var isChange: Bool {
        guard !text.contains(" = -1 ") else { return false }
        return name.hasPrefix("open") ? text.contains("O_CREAT") : name != "close"
    }

    /// Whether disks that are full refuse it.
    var takesSpace: Bool {
        isChange && !["unlink", "unlinkat", "fchmod"].contains(name)
    }
}
