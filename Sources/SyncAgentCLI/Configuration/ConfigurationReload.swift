// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import SyncAgent
import SyncPlan
import Synchronization

/// Reads the configuration again for an agent that runs.
final class ConfigurationReload: Sendable {
    private let configuration: Configuration
    private let place: Place
    private let networks: [AddressRange]
    /// The settings in force.
    private let running: Mutex<Settings>

    /// - Parameters:
    ///   - configuration: The options of the command.
    ///   - networks: What `--allow-network` names.
    ///   - settings: What the agent began with.
    init(_ configuration: Configuration, allowing networks: [AddressRange], _ settings: RunSettings) {
        self.configuration = configuration
        self.networks = networks
        place = settings.place
        running = Mutex(settings.settings)
    }

    /// Reads it, and says what changes by it.
    func read() -> Agent.Reload {
        do throws(ConfigurationError) {
            let new = try RunSettings(configuration, place, allowing: networks)
            let change = running.withLock { running in
                let change = SettingsChange(from: running, to: new.settings)
                running = change.settings
                return change
            }
            return .accepted(
                Agent.Reload.Configuration(
                    settings: change.settings, proxies: new.proxies, changed: change.changed,
                    needRestart: change.needRestart, report: new.report(running: change.settings)))
        } catch {
            return .rejected(error.problems.map(\.description))
        }
    }
}
