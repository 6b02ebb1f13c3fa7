// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import SyncAgent
import Synchronization

extension RunSettings {
    /// Makes the function with which a running agent reads its configuration again: the changed settings, or the problems.
    func reloader(_ configuration: Configuration, allowing networks: [AddressRange]) -> @Sendable () -> Agent.Reload {
        let running = Mutex(settings)
        return { [place] in
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
}
