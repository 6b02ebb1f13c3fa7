// SPDX-License-Identifier: Apache-2.0
import Glibc
package import SystemPackage

/// The programs that were built together with the tests.
package enum BuiltProducts {
    /// Where a program lies: in the folder of the test bundle, which on Linux is a program of its own.
    package static func path(_ name: String) -> FilePath {
        folder.appending(name)
    }

    private static let folder: FilePath = {
        guard let program = realpath("/proc/self/exe", nil) else { return "." }
        defer { free(program) }
        return FilePath(platformString: program).removingLastComponent()
    }()
}
