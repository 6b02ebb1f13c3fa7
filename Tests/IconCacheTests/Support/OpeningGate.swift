// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport

/// Keeps whoever opens a file waiting within `open(2)`, with the path looked up already, until it is let go.
///
/// It is a lease on the file as `fcntl_lease(2)` has them, which is not what this library calls one.
final class OpeningGate: Sendable {
    private let file: FileDescriptor

    // The C library declares these to GNU programs only.
    private static let setSignal: CInt = 10
    private static let setLease: CInt = 1024
    private static let getLease: CInt = 1025

    init(at path: FilePath) throws {
        file = try FileDescriptor.open(path, .readWrite, options: [.closeOnExec])
        // A signal tells that somebody waits; one that is ignored unless somebody asks for it.
        try check(fcntl(file.rawValue, Self.setSignal, SIGURG))
        let deadline = ContinuousClock.now + .seconds(240)
        while fcntl(file.rawValue, Self.setLease, F_WRLCK) != 0 {
            // A process that another test has just started has our files open until it runs its own program.
            guard errno == EAGAIN, ContinuousClock.now < deadline else { throw Errno(rawValue: errno) }
            sched_yield()
        }
    }

    deinit {
        try? file.close()
    }

    /// Whether the file system of temporary folders has such leases.
    static let isSupported: Bool = {
        let path = FilePath("\(FileManager.default.temporaryDirectory.path)/syncagent-gate-\(getpid())")
        defer { unlink(path.string) }
        return (try? write("", to: path)) != nil && (try? OpeningGate(at: path)) != nil
    }()

    /// Whether nobody has tried to open the file yet, by any of its names.
    var isUntouched: Bool { fcntl(file.rawValue, Self.getLease) == F_WRLCK }

    /// Does something while somebody waits, and then lets him go.
    ///
    /// It blocks its thread meanwhile.
    func whileOneWaits(_ body: () throws -> Void) throws {
        let deadline = ContinuousClock.now + .seconds(240)
        while isUntouched {
            guard ContinuousClock.now < deadline else { throw Errno.timedOut }
            sched_yield()
        }
        defer { _ = fcntl(file.rawValue, Self.setLease, F_UNLCK) }
        try body()
    }
}
