// SPDX-License-Identifier: Apache-2.0
import Glibc
package import SystemPackage

/// The programs that were built together with the tests.
package enum BuiltProducts {
    /// Where a program lies: in the folder of the test bundle, which on Linux is a program of its own, or in the folder
    /// that `TEST_PROGRAMS` in the environment names.
    package static func path(_ name: String) -> FilePath {
        folder.appending(name)
    }

    private static let folder: FilePath = {
        if let chosen = getenv("TEST_PROGRAMS") { return FilePath(platformString: chosen) }
        guard let program = realpath("/proc/self/exe", nil) else { return "." }
        defer { free(program) }
        return FilePath(platformString: program).removingLastComponent()
    }()
}
