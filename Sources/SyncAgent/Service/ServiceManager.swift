// SPDX-License-Identifier: Apache-2.0
import Glibc
package import Logging
import SystemPackage

/// The service manager that started the agent, such as systemd.
package actor ServiceManager {
    /// How often the watchdog must be fed; `nil` if there is none.
    package nonisolated let watchdog: Duration?
    private let socket: NotifySocket
    private let logger: Logger
    private let thread = FileThread("service")
    private var notices: ServiceNotices
    private var isUnreachable = false

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// The service manager that the environment names; `nil` if there is none.
    ///
    /// `environment` reads a variable, and must return `nil` for an empty one.
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

    /// The time until the next status may be sent.
    var pause: Duration { notices.pause(at: AgentClock.timeAwake) }

    /// Sends a message, if the notices have one to send now.
    func notify(_ message: @Sendable (inout ServiceNotices) -> String?) {
        guard let message = message(&notices) else { return }
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
