// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import SyncAgent
import Synchronization

/// Reloads the configuration for a running agent.
final class ConfigurationReload: Sendable {
    private let configuration: Configuration
    private let place: Place
    private let networks: [AddressRange]
    private let running: Mutex<Settings>

    init(_ configuration: Configuration, allowing networks: [AddressRange], _ settings: RunSettings) {
        self.configuration = configuration
        self.networks = networks
        place = settings.place
        running = Mutex(settings.settings)
    }

    /// Reads the configuration, and returns the changed settings or the problems.
    func read() -> Agent.Reload {
        do throws(ConfigurationError) {
            let new = try RunSettings(configuration, place, allowing: networks)
            let change = running.withLock { running in
                let change = SettingsChange(from: running, to: new.settings)
                running = change.settings
                return change
            }
            return .accepted(change, proxies: new.proxies, report: new.report(running: change.settings))
        } catch {
            return .rejected(error.problems.map(\.description))
        }
    }
}
