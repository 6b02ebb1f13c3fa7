// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage

/// The user that an agent runs as, for checks by root.
struct AgentUser {
    let name: String
    private let user: uid_t
    private let group: gid_t

    /// The owner of the state folder; `nil` if there is none, or it is root or this user, or this user is not root.
    init?(of state: FilePath) {
        var status = stat()
        guard geteuid() == 0, stat(state.string, &status) == 0, status.st_uid != 0 else { return nil }
        user = status.st_uid
        let entry = getpwuid(user)?.pointee
        name = entry.map { String(cString: $0.pw_name) } ?? "\(user)"
        group = entry?.pw_gid ?? status.st_gid
    }

    /// Whether the user, in its own groups, may read a file; a missing file counts as readable.
    func mayRead(_ path: String) -> Bool {
        var groups = [gid_t](repeating: 0, count: Int(max(0, getgroups(0, nil))))
        getgroups(Int32(groups.count), &groups)
        let own = getegid()
        // The kernel decides, by the effective IDs.
        initgroups(name, group)
        setegid(group)
        seteuid(user)
        let isReadable = faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0 || errno != EACCES
        seteuid(0)
        setegid(own)
        setgroups(groups.count, groups)
        return isReadable
    }
}
