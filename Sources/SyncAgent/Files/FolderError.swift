// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
package import SystemPackage

/// The reason why the agent refuses to use one of its folders, although the system permits it.
package enum FolderError: Error, Equatable, Sendable {
    /// Another process holds the folder's lock; `by` is its process ID, if known.
    case held(FilePath, by: Int?)
    /// The agent's lock on the folder went, and another agent may have come since.
    case lost(FilePath)
    /// The folder holds files that are not syncagent's, which must not be removed by mistake.
    case foreign(FilePath)
    /// An entry of the folder has the wrong type; for example a symbolic link out of the folder.
    case wrongKind(FilePath, isA: String, expected: String)
    /// This root folder, or an entry of it, belongs to another user.
    case wrongOwner(FilePath, owner: UInt32, agent: UInt32, root: FilePath)
    /// This root folder, or an entry of it, is writable by others.
    case writable(FilePath, mode: UInt32, root: FilePath)
    /// A file that is overwritten in place has several hard links.
    case hasOtherNames(FilePath)
    /// Others can replace the agent's socket.
    case unsafeForSocket(FilePath, owner: UInt32, mode: UInt32)

    /// Whether another process uses the folder, perhaps only for a moment.
    package var isHeld: Bool {
        switch self {
        case .held, .lost: true
        default: false
        }
    }
}

extension FolderError: CustomStringConvertible {
    /// The problem, and what to do.
    package var description: String {
        switch self {
        case .held(let path, let process):
            "\(path) is in use by \(Self.holder(process)): stop it, or choose another folder."
        case .lost(let path):
            "\(path.appending(CacheLayout.lock)) was removed or replaced under the running agent, so that another one could "
                + "start: stop others, and start it again."
        case .foreign(let path):
            "\(path) is not empty and is not a syncagent cache: choose another folder with --cache."
        case .wrongKind(let path, let kind, let expected):
            "\(path) is \(kind), not \(expected): remove it."
        case .wrongOwner(let path, let owner, let agent, let root):
            "\(path) belongs to user \(owner), but syncagent runs as user \(agent): "
                + (owner == 0
                    ? "if only syncagent uses \(root), run “sudo chown -R \(agent) \(root)”; if not, choose another folder."
                    : "run it as the owner (sudo -u '#\(owner)' syncagent), remove \(root) if only syncagent uses it (the "
                        + "agent creates it again), or choose another folder.")
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

    /// The process that holds a lock; in another container, its number means another process.
    private static func holder(_ process: Int?) -> String {
        guard let process else { return "another process" }
        return process == Int(getpid()) ? "an agent in another container or on another host" : "process \(process)"
    }

    private static func octal(_ mode: UInt32) -> String { String(mode, radix: 8) }
}
