// SPDX-License-Identifier: Apache-2.0
package import SystemPackage

/// Why the agent does not use one of its folders, although the system would let it.
package enum FolderError: Error, Equatable, Sendable {
    /// Another process holds the folder's lock; its number, if that is known.
    case held(FilePath, by: Int?)
    /// The folder has something else in it, which must not be taken for what is to be removed.
    case foreign(FilePath)
    /// Something in the folder is of another kind, in words, than it should be: a symbolic link leads elsewhere.
    case wrongKind(FilePath, isA: String, expected: String)
    /// Something in this root folder, or the folder itself, belongs to somebody else.
    case wrongOwner(FilePath, owner: UInt32, agent: UInt32, root: FilePath)
    /// Something in this root folder, or the folder itself, can be changed by others.
    case writable(FilePath, mode: UInt32, root: FilePath)
    /// A file that is written to where it is has another name.
    case hasOtherNames(FilePath)
    /// Others can put another socket in the place of the agent's.
    case unsafeForSocket(FilePath, owner: UInt32, mode: UInt32)

    /// Whether another process uses the folder, which may be over soon.
    package var isHeld: Bool { if case .held = self { true } else { false } }
}

extension FolderError: CustomStringConvertible {
    /// What is wrong with it, and what to do.
    package var description: String {
        switch self {
        case .held(let path, let process):
            "\(path) is in use by \(process.map { "process \($0)" } ?? "another process"): stop it, or choose another folder."
        case .foreign(let path):
            "\(path) is not empty and is not a syncagent cache: choose another folder with --cache."
        case .wrongKind(let path, let kind, let expected):
            "\(path) is \(kind), not \(expected): remove it."
        case .wrongOwner(let path, let owner, let agent, let root):
            "\(path) belongs to user \(owner), but the agent runs as user \(agent): run the agent as the owner, remove "
                + "\(root) (the agent creates it again), or choose another folder."
        case .writable(let path, let mode, let root):
            "\(path) is writable by others (mode \(Self.octal(mode))): run “chmod -R go-w \(root)”. If others may have "
                + "written to it, remove \(root) instead; the agent creates it again."
        case .hasOtherNames(let path):
            "\(path) has several hard links, which may be in other folders: remove it."
        case .unsafeForSocket(let path, let owner, let mode):
            "\(path) can be changed by others (owner \(owner), mode \(Self.octal(mode))): choose a socket in a folder of "
                + "your own with --socket."
        }
    }

    private static func octal(_ mode: UInt32) -> String { String(mode, radix: 8) }
}
