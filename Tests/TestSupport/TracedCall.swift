// SPDX-License-Identifier: Apache-2.0

/// One call in the output of `strace -f -y`: `811 linkat(9</cache/staging>, "1", 8</cache>, "manifest.json", 0) = 0`.
package struct TracedCall: Sendable {
    package let thread: Substring
    package let name: Substring
    /// What strace's `-P` compares: every path as it was passed, and where every descriptor leads to.
    package let subjects: [Substring]
    /// The one of these that the call is about: the last path that was passed, else the first descriptor.
    package let subject: Substring
    /// The whole path of the same, whichever part of it was passed.
    package let path: String
    /// The arguments and the result.
    package let text: Substring

    /// - Returns: `nil` if the line tells of no call, or of one without a file.
    package init?(_ line: Substring) {
        thread = line.prefix { $0.isNumber }
        let call = line[thread.endIndex...].drop { $0 == " " }
        guard call.first?.isLetter == true, let start = call.firstIndex(of: "(") else { return nil }
        name = call[..<start]
        text = call[start...]
        var arguments = Arguments(text)
        var subjects: [Substring] = []
        var folder: Substring = ""
        var last: (path: Substring, folder: Substring)?
        while let argument = arguments.next() {
            switch argument {
            case .descriptor(let path):
                subjects.append(path)
                folder = path
            case .currentFolder(let path):
                folder = path
            case .text(let path) where Self.takingPaths.contains(name):
                subjects.append(path)
                last = (path, folder)
            case .text:
                // What is written.
                break
            }
        }
        guard let subject = last?.path ?? subjects.first else { return nil }
        self.subjects = subjects
        self.subject = subject
        path = last.map { $0.path.hasPrefix("/") ? String($0.path) : "\($0.folder)/\($0.path)" } ?? String(subject)
    }

    private static let takingPaths: Set<Substring> = [
        "open", "openat", "openat2", "creat", "mkdir", "mkdirat", "link", "linkat", "rename", "renameat", "renameat2",
        "unlink", "unlinkat",
    ]

    /// The calls that change files or folders, or make changes durable, as strace takes them: `?` where not every machine
    /// has the call.
    package static let changing = [
        "?open", "openat", "?openat2", "?creat", "?mkdir", "mkdirat", "?link", "linkat", "?rename", "?renameat",
        "renameat2", "?unlink", "unlinkat", "write", "writev", "pwrite64", "pwritev", "ftruncate", "fallocate", "fsync",
        "fdatasync", "syncfs", "?sync_file_range", "msync", "fchmod", "close",
    ]

    /// Whether it has changed something, or made something durable, for all that one can tell from itself alone.
    package var isChange: Bool {
        guard !text.contains(" = -1 ") else { return false }
        return name.hasPrefix("open") ? text.contains("O_CREAT") : name != "close"
    }

    /// What it has in common with the calls of its name in all folders that fan out: `mkdirat /cache/icons/*`.
    package var kind: String {
        let names = path.split(separator: "/").map { $0.count == 2 && $0.allSatisfy(\.isHexDigit) ? "*" : $0 }
        return "\(name) /\(names.joined(separator: "/"))"
    }

    /// Whether disks that are full refuse it.
    package var takesSpace: Bool {
        isChange && !["unlink", "unlinkat", "fchmod"].contains(name)
    }
}

/// The arguments of a call that tell of files.
private struct Arguments: IteratorProtocol {
    enum Argument {
        /// `9</cache/staging>`
        case descriptor(Substring)
        /// `AT_FDCWD</>`
        case currentFolder(Substring)
        /// `"manifest.json"`
        case text(Substring)
    }

    private var rest: Substring

    init(_ text: Substring) {
        rest = text
    }

    mutating func next() -> Argument? {
        var before: Character = " "
        while let character = rest.popFirst() {
            switch character {
            case "\"":
                return .text(takeText())
            case "<" where before.isNumber || before == "D":
                let path = rest.prefix { $0 != ">" }
                rest = rest[path.endIndex...].dropFirst()
                return before == "D" ? .currentFolder(path) : .descriptor(path)
            case "=" where before == " ":
                // What follows is the result.
                return nil
            default:
                before = character
            }
        }
        return nil
    }

    private mutating func takeText() -> Substring {
        var isEscaped = false
        let text = rest.prefix { character in
            defer { isEscaped = character == "\\" && !isEscaped }
            return isEscaped || character != "\""
        }
        rest = rest[text.endIndex...].dropFirst()
        return text
    }
}
