// SPDX-License-Identifier: Apache-2.0
import Glibc
import SyncAgent
import SystemPackage

extension Agent.Helpers {
    /// The helper programs, beside this one or in `../libexec/syncagent`; throws exit code 78 if one is missing.
    static func installed() throws -> Agent.Helpers {
        let folder = try program().removingLastComponent()
        let folders = [folder, folder.removingLastComponent().appending("libexec").appending("syncagent")]
        func path(of name: String) -> FilePath? {
            folders.map { $0.appending(name) }.first { access($0.string, X_OK) == 0 }
        }
        func find(_ name: String) throws -> FilePath {
            if let path = path(of: name) { return path }
            throw Exit.because(
                "\(name) is missing: install it in \(folder), beside syncagent.", code: .badConfiguration)
        }
        let watch = try find("syncagent-watch")
        // The renderers are in another package, which may be installed later: their paths are those that it would use.
        let renderers = ["syncagent-render", "syncagent-render-heif"].map { name in
            path(of: name) ?? watch.removingLastComponent().appending(name)
        }
        return Agent.Helpers(watch: watch, parse: try find("syncagent-parse"), renderers: renderers)
    }

    static func program() throws -> FilePath {
        guard let path = FilePath(allocated: realpath("/proc/self/exe", nil)) else {
            throw Exit.because(
                "Cannot find the helper programs: /proc is not mounted. Mount it.", code: .badConfiguration)
        }
        return path
    }
}
