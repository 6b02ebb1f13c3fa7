// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import SystemPackage

/// Starts programs that inherit only the given descriptors (posix_spawn(3)).
final class SpawnedFiles {
    private var actions = posix_spawn_file_actions_t()

    init() {
        posix_spawn_file_actions_init(&actions)
    }

    deinit {
        posix_spawn_file_actions_destroy(&actions)
    }

    /// Passes an open file to the program under this number.
    func add(_ file: Int32, as number: Int32) {
        posix_spawn_file_actions_adddup2(&actions, file, number)
    }

    /// Redirects a descriptor of the program to /dev/null.
    func discard(_ number: Int32) {
        posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_WRONLY, 0)
    }

    /// Starts a program with default signal handling.
    ///
    /// - Throws: The system error, also if the program cannot be executed.
    func spawn(_ program: String, _ arguments: [String], _ environment: [String]) throws(Errno) -> pid_t {
        posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let texts = [arguments, environment].map { $0.map { strdup($0) } + [nil] }
        defer { texts.joined().forEach { free($0) } }
        var process: pid_t = 0
        let error = posix_spawn(&process, program, &actions, &attributes, texts[0], texts[1])
        guard error == 0 else { throw Errno(rawValue: error) }
        return process
    }
}
