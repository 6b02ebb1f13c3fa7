// SPDX-License-Identifier: Apache-2.0
import Glibc
public import SystemPackage

extension IconCache {
    /// The cache folder used by default.
    ///
    /// It is the user's own, `$XDG_CACHE_HOME/syncagent` or else `~/.cache/syncagent`. If that does not exist but
    /// `/var/cache/syncagent` does, the system's folder is the default.
    public static var defaultPath: FilePath {
        defaultPath(
            environment: { name in getenv(name).map { String(cString: $0) } },
            exists: { path in (try? path.stat()) != nil })
    }

    /// The default path for an environment and a file system; always absolute.
    package static func defaultPath(environment: (String) -> String?, exists: (FilePath) -> Bool) -> FilePath {
        // The XDG Base Directory Specification says to ignore relative paths in these variables.
        func folder(_ variable: String) -> FilePath? {
            environment(variable).map { FilePath($0) }.flatMap { $0.isAbsolute ? $0 : nil }
        }
        let system: FilePath = "/var/cache/syncagent"
        guard let base = folder("XDG_CACHE_HOME") ?? folder("HOME")?.appending(".cache") else { return system }
        let own = base.appending("syncagent")
        return !exists(own) && exists(system) ? system : own
    }
}
