// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
import Reports
import Synchronization

/// Where the agent's servers listen over TCP, or why they cannot.
package final class Listeners: Sendable {
    private let states = Mutex<[String: StatusReport.Listener]>([:])

    var all: [StatusReport.Listener] { states.withLock { $0.values.sorted { $0.name < $1.name } } }

    /// Sets or clears the error of a listener that stays at its address.
    package func set(_ name: String, error: String?) {
        states.withLock { $0[name]?.error = error }
    }

    package func set(_ name: String, at address: ListenAddress, error: String?) {
        states.withLock {
            $0[name] = StatusReport.Listener(name: name, address: address.description, error: error)
        }
    }
}
