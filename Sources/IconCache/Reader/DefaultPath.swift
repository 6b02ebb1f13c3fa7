// SPDX-License-Identifier: Apache-2.0
import Glibc
public import SystemPackage

extension IconCache {
    /// Where a cache is looked for if no folder is named.
    ///
    /// It is the user's own, `$XDG_CACHE_HOME/syncagent` or else `~/.cache/syncagent`, unless that is missing and the
    /// system's, `/var/cache/syncagent`, is there.
    public static var defaultPath: FilePath {
        defaultPath(
            environment: { name in getenv(name).map { String(cString: $0) } },
            exists: { path in (try? path.stat()) != nil })
    }

    /// The default path, for an environment and a file system.
    ///
    /// - Parameters:
    ///   - environment: The value of an environment variable.
    ///   - exists: Whether there is a folder.
    /// - Returns: An absolute path.
    package static func defaultPath(environment: (String) -> String?, exists: (FilePath) -> Bool) -> FilePath {
        // Relative paths in these variables are to be ignored, says the XDG Base Directory Specification.
        func folder(_ variable: String) -> FilePath? {
            environment(variable).map { FilePath($0) }.flatMap { $0.isAbsolute ? $0 : nil }
        }
        let system: FilePath = "/var/cache/syncagent"
        guard let base = folder("XDG_CACHE_HOME") ?? folder("HOME")?.appending(".cache") else { return system }
        let own = base.appending("syncagent")
        return !exists(own) && exists(system) ? system : own
    }
}
