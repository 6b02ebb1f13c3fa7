// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import Synchronization
import SystemPackage

/// A process of a helper program, which has nothing of the agent's but three descriptors.
///
/// Calls that wait block their thread. A process that nobody refers to any more is killed and reaped.
final class HelperProcess: Sendable {
    /// How a process ended.
    enum Exit: Equatable, Sendable {
        case code(Int32)
        case signal(Int32)
    }

    /// What comes of a process.
    enum Event: Equatable, Sendable {
        /// It wrote this to standard output.
        case output([UInt8])
        /// It wrote this to standard error.
        case message([UInt8])
        /// Its standard output has ended, and perhaps it goes on.
        case outputEnded
        /// It has ended, and everything that it wrote has been told.
        case ended
        /// The time is over.
        case late
    }

    private struct State {
        var isOutputOpen = true
        var isErrorOpen: Bool
        /// What it is still to be sent, and then the end; `nil` if that was sent, or there is nothing.
        var rest: ArraySlice<UInt8>?
        /// Why it could not be sent.
        var unsent: Errno?
        var exit: Exit?
    }

    private let number: pid_t
    /// Readable when the process has ended (pidfd_open(2)).
    private let process: OwnedDescriptor
    private let input: OwnedDescriptor
    private let output: OwnedDescriptor
    private let error: OwnedDescriptor?
    private let state: Mutex<State>

    /// Starts a program.
    ///
    /// Its standard input has what is sent to it, and ends with this process, however that ends: so the helper knows.
    ///
    /// - Parameters:
    ///   - program: Its path.
    ///   - arguments: Its arguments, without its name.
    ///   - hasMessages: Whether what it writes to standard error is told; else nobody gets it.
    ///   - environment: All of its environment, as `NAME=value`. By default it has no backtraces, which take seconds.
    /// - Throws: The error of the system.
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
        // Its own ends are closed from here on, so that there is an end to what it writes.
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

    /// How many descriptors the agent has open for one whose messages are not told.
    static let descriptors = 3

    /// What a helper has of an environment: that of the agent is none of its business.
    static let environment: [String] = {
        var environment = ["SWIFT_BACKTRACE=enable=no", "LIBDISPATCH_LOG=NO"]
        #if SANITIZED
            // To look for leaks, a process would be started.
            environment.append("ASAN_OPTIONS=detect_leaks=0")
        #endif
        return environment
    }()

    /// Waits for what comes next; for one caller at a time.
    ///
    /// - Parameter deadline: When to wait no longer.
    /// - Returns: What has come; nothing comes after the end.
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
            // It may have written something between the looks at its output and at itself.
            hasEnded = hasEnded || files[2].revents != 0
        }
    }

    /// Sends bytes to its standard input, unless it has ended or does not read what came before.
    func send(_ text: StaticString) {
        _ = Glibc.send(
            input.raw, text.utf8Start, text.utf8CodeUnitCount, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }

    /// Sends bytes to its standard input, and then the end.
    ///
    /// They are sent while ``next(by:)`` waits, as fast as the process reads.
    func send(_ bytes: [UInt8]) {
        state.withLock { $0.rest = bytes[...] }
    }

    /// Why it could not be sent everything, for which it was killed; `nil` if it was, or did not want any more.
    ///
    /// A part with an end after it can look like the whole.
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
            // Nobody reads it any more.
            case EPIPE, ECONNRESET: state.rest = nil
            default:
                (state.rest, state.unsent) = (nil, Errno(rawValue: errno))
                kill()
            }
        }
    }

    /// Whether it has ended, if only just.
    var hasEnded: Bool {
        var file = pollfd(fd: process.raw, events: Int16(POLLIN), revents: 0)
        return poll(&file, 1, 0) != 0
    }

    /// Kills it, if it has not ended, whoever waits for it.
    func kill() {
        _ = signal_process(process.raw, SIGKILL)
    }

    /// Reaps the process; one that does not end by itself within this time is killed.
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
            // Somebody has it that children of this process leave no status.
            guard errno == EINTR else { return .signal(SIGKILL) }
        }
        return status & 0x7f == 0 ? .code(status >> 8 & 0xff) : .signal(status & 0x7f)
    }

    /// The whole milliseconds until then, rounded up, and no more than poll(2) takes.
    private static func milliseconds(until time: ContinuousClock.Instant) -> Int32 {
        let rest = max(.zero, ContinuousClock.now.duration(to: time))
        return Int32(min(86_400_000, (rest / .milliseconds(1)).rounded(.up)))
    }
}

/// Kills a process when its task is cancelled, also one that is only then started.
final class HelperKiller: Sendable {
    private let state = Mutex<(isKilled: Bool, process: HelperProcess?)>((false, nil))

    /// Is to kill this process.
    func note(_ process: HelperProcess?) {
        state.withLock { state in
            state.process = process
            if state.isKilled { process?.kill() }
        }
    }

    func kill() {
        state.withLock { state in
            state.isKilled = true
            state.process?.kill()
        }
    }
}
