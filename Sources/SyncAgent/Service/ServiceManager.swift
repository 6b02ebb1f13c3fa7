// SPDX-License-Identifier: Apache-2.0
import Glibc
package import Logging
import Reports
import SyncPlan
import SystemPackage

/// The service manager that started the agent, such as systemd: told that the agent is ready, how it is, and that it stops.
package actor ServiceManager {
    /// How often it wants to hear that all parts of the agent work; `nil` if it does not.
    package nonisolated let watchdog: Duration?
    private let socket: NotifySocket
    private let logger: Logger
    private let thread = FileThread("service")
    private var notices: ServiceNotices
    private var isUnreachable = false

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// The service manager that the environment names; `nil` if there is none.
    ///
    /// - Parameters:
    ///   - environment: The variables that a service manager sets; an empty one counts as not set.
    ///   - logger: Where it is logged that the service manager cannot be told anything.
    package init?(environment: (String) -> String?, logger: Logger) {
        guard let text = environment("NOTIFY_SOCKET") else { return nil }
        guard let socket = NotifySocket(text) else {
            logger.warning("unknown form of NOTIFY_SOCKET: the service manager is not notified")
            return nil
        }
        self.socket = socket
        self.logger = logger
        let process = Int(getpid())
        notices = ServiceNotices(process: process)
        watchdog = WatchdogInterval.read(
            time: environment("WATCHDOG_USEC"), recipient: environment("WATCHDOG_PID"), process: process)
    }

    /// Tells that the agent is ready, and what its status is.
    package func ready(_ status: String) { send(notices.ready(status, at: AgentClock.timeAwake)) }

    /// Asks for more time to start.
    package func stillStarting() { send(notices.stillStarting()) }

    /// Tells the status, if it is another than before and the last one is a second old.
    package func status(_ text: String) { send(notices.status(text, at: AgentClock.timeAwake)) }

    /// How long to wait before another status can be told.
    package var pause: Duration { notices.pause(at: AgentClock.timeAwake) }

    /// Tells that the agent reloads what it was configured with.
    package func reloading() { send(notices.reloading(at: AgentClock.timeAwake)) }

    /// Tells that the agent has reloaded.
    package func reloaded() { send(notices.reloaded()) }

    /// Tells that the agent stops.
    package func stopping() { send(notices.stopping()) }

    /// Asks for more time to stop.
    package func stillStopping() { send(notices.stillStopping()) }

    /// Tells that all parts of the agent work.
    package func alive() { send(notices.alive()) }

    private func send(_ message: String?) {
        guard let message else { return }
        do throws(Errno) {
            try socket.send(message)
            isUnreachable = false
        } catch {
            guard !isUnreachable else { return }
            isUnreachable = true
            logger.warning("cannot notify the service manager", metadata: ["reason": "\(error)"])
        }
    }
}
