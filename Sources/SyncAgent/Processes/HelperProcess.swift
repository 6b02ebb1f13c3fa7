// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import Synchronization
import SystemPackage

/// A process of a helper program, connected to the agent only by its three standard descriptors.
///
/// Methods that wait block their thread. The process is killed and reaped with the last reference to this object.
final class HelperProcess: Sendable {
    enum Exit: Equatable, Sendable {
        case code(Int32)
        case signal(Int32)
    }

    enum Event: Equatable, Sendable {
        /// The process wrote to standard output.
        case output([UInt8])
        /// The process wrote to standard error.
        case message([UInt8])
        /// The process closed standard output; it may still run.
        case outputEnded
        /// The process exited, and all its output was delivered.
        case ended
        /// The deadline has passed.
        case late
    }

    private struct State {
        var isOutputOpen = true
        var isErrorOpen: Bool
        /// The input that was not sent yet, followed by end of file; `nil` if there is none.
        var rest: ArraySlice<UInt8>?
        /// The error that prevented sending the input.
        var unsent: Errno?
        var exit: Exit?
    }

    private let number: pid_t
    /// The process's descriptor (pidfd_open(2)), which is readable once the process has exited.
    private let process: OwnedDescriptor
    private let input: OwnedDescriptor
    private let output: OwnedDescriptor
    private let error: OwnedDescriptor?
    private let state: Mutex<State>

    /// Starts a program.
    ///
    /// The program's standard input reaches end of file when the agent ends, even if it is killed, so the helper exits
    /// then. Without `hasMessages`, its standard error is discarded. `environment` is its whole environment, as
    /// `NAME=value`; the default disables Swift backtraces, which take seconds.
    ///
    /// - Throws: The system error.
    init(
        _ program: FilePath, _ arguments: [String], hasMessages: Bool = false,
        environment: [String] = HelperProcess.environment
    ) throws(Errno) {
        let input = try OwnedDescriptor.socketPair()
        let output = try OwnedDescriptor.pipe()
        let error = hasMessages ? try OwnedDescriptor.pipe() : nil
        let files = SpawnedFiles()
        files.add(input.theirs.raw, as: STDIN_FILENO)
        files.add(output.theirs.raw, as: STDOUT_FILENO)
        if let theirs = error?.theirs.raw {
            files.add(theirs, as: STDERR_FILENO)
        } else {
            files.discard(STDERR_FILENO)
        }
        number = try files.spawn(program.string, [program.string] + arguments, environment)
        // The helper's ends of the pipes close here, so that its output can reach end of file.
        withExtendedLifetime((input.theirs, output.theirs, error?.theirs)) {}
        let process = open_process(number)
        guard process >= 0 else {
            let failure = Errno(rawValue: errno)
            Glibc.kill(number, SIGKILL)
            Self.reap(number)
            throw failure
        }
        self.process = OwnedDescriptor(process)
        self.input = input.mine
        self.output = output.mine
        self.error = error?.mine
        state = Mutex(State(isErrorOpen: hasMessages))
    }

    deinit {
        end()
    }

    /// The descriptors that the agent has open for a helper without `hasMessages`.
    static let descriptors = 3

    /// The environment of helpers; they do not inherit the agent's.
    static let environment: [String] = {
        var environment = ["SWIFT_BACKTRACE=enable=no", "LIBDISPATCH_LOG=NO"]
        #if SANITIZED
            // AddressSanitizer's leak check would start a process.
            environment.append("ASAN_OPTIONS=detect_leaks=0")
        #endif
        return environment
    }()

    /// Waits for the next event, one caller at a time; ``Event/ended`` is the last, and ``Event/late`` the timeout.
    func next(by deadline: ContinuousClock.Instant) -> Event {
        var hasEnded = false
        while true {
            let (isOutputOpen, isErrorOpen, isSent) = state.withLock {
                ($0.isOutputOpen, $0.isErrorOpen, $0.rest == nil)
            }
            var files = [
                pollfd(fd: isOutputOpen ? output.raw : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: isErrorOpen ? error?.raw ?? -1 : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: hasEnded ? -1 : process.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: isSent ? -1 : input.raw, events: Int16(POLLOUT), revents: 0),
            ]
            let rest = Self.milliseconds(until: deadline)
            guard hasEnded || rest > 0 else { return .late }
            guard poll(&files, nfds_t(files.count), hasEnded ? 0 : rest) >= 0 else { continue }
            if files[0].revents != 0 {
                let bytes = output.read()
                if !bytes.isEmpty { return .output(bytes) }
                state.withLock { $0.isOutputOpen = false }
                return .outputEnded
            }
            if files[1].revents != 0, let bytes = error?.read() {
                if !bytes.isEmpty { return .message(bytes) }
                state.withLock { $0.isErrorOpen = false }
            } else if hasEnded {
                return .ended
            }
            if files[3].revents != 0 { sendMore() }
            // The process may have written between the poll of its output and its exit.
            hasEnded = hasEnded || files[2].revents != 0
        }
    }

    /// Sends bytes to the process's standard input; drops them if it has exited or the pipe is full.
    func send(_ text: StaticString) {
        _ = Glibc.send(
            input.raw, text.utf8Start, text.utf8CodeUnitCount, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }

    /// Sends bytes to the process's standard input, followed by end of file.
    ///
    /// The bytes are sent while ``next(by:)`` waits, as fast as the process reads.
    func send(_ bytes: [UInt8]) {
        state.withLock { $0.rest = bytes[...] }
    }

    /// The error that truncated the input, for which the process was killed; `nil` if there was none, or the process
    /// closed its input.
    ///
    /// The process is killed because truncated input could pass for complete input.
    var unsent: Errno? { state.withLock(\.unsent) }

    private func sendMore() {
        state.withLock { state in
            guard let rest = state.rest else { return }
            let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
            let sent = rest.withUnsafeBytes { Glibc.send(input.raw, $0.baseAddress, $0.count, flags) }
            guard sent < 0 else {
                state.rest = sent < rest.count ? rest.dropFirst(sent) : nil
                if state.rest == nil { shutdown(input.raw, Int32(SHUT_WR)) }
                return
            }
            switch errno {
            case EAGAIN, EINTR: break
            // The process closed its input.
            case EPIPE, ECONNRESET: state.rest = nil
            default:
                (state.rest, state.unsent) = (nil, Errno(rawValue: errno))
                kill()
            }
        }
    }

    /// Whether the process has exited.
    var hasEnded: Bool {
        var file = pollfd(fd: process.raw, events: Int16(POLLIN), revents: 0)
        return poll(&file, 1, 0) != 0
    }

    /// Kills the process if it is still running; may be called while another thread waits for it.
    func kill() {
        _ = signal_process(process.raw, SIGKILL)
    }

    /// Reaps the process; kills it if it does not exit within this time.
    @discardableResult
    func end(within time: Duration = .zero) -> Exit {
        let deadline = ContinuousClock.now + time
        return state.withLock { state in
            if let exit = state.exit { return exit }
            var file = pollfd(fd: process.raw, events: Int16(POLLIN), revents: 0)
            while poll(&file, 1, Self.milliseconds(until: deadline)) < 0 {}
            if file.revents == 0 { kill() }
            let exit = Self.reap(number)
            state.exit = exit
            return exit
        }
    }

    @discardableResult
    private static func reap(_ process: pid_t) -> Exit {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            // SIGCHLD is ignored in this process (waitpid(2)), so the system kept no exit status.
            guard errno == EINTR else { return .signal(SIGKILL) }
        }
        return status & 0x7f == 0 ? .code(status >> 8 & 0xff) : .signal(status & 0x7f)
    }

    /// The milliseconds until a time, rounded up, and at most 24 hours.
    private static func milliseconds(until time: ContinuousClock.Instant) -> Int32 {
        let rest = max(.zero, ContinuousClock.now.duration(to: time))
        return Int32(min(86_400_000, (rest / .milliseconds(1)).rounded(.up)))
    }
}

/// Kills a process when its task is cancelled, even if the process starts after that.
final class HelperKiller: Sendable {
    private let state = Mutex<(isKilled: Bool, process: HelperProcess?)>((false, nil))

    /// Whether ``kill()`` was called.
    var isKilled: Bool { state.withLock(\.isKilled) }

    /// Sets the process to kill; kills it at once if ``kill()`` was called.
    func attach(_ process: HelperProcess) {
        state.withLock { state in
            state.process = process
            if state.isKilled { process.kill() }
        }
    }

    func kill() {
        state.withLock { state in
            state.isKilled = true
            state.process?.kill()
        }
    }
}
