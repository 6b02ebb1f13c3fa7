// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
package import HTTPRules
import Logging
import Reports
import SyncPlan
import Synchronization

/// The settings in force, for the agent's servers.
package final class LatestSettings: Sendable {
    private let report: Mutex<SettingsReport>

    package init(_ report: SettingsReport) {
        self.report = Mutex(report)
    }

    package var current: SettingsReport { report.withLock(\.self) }

    func set(_ report: SettingsReport) { self.report.withLock { $0 = report } }
}

extension Agent {
    package enum Reload: Sendable {
        case accepted(SettingsChange, proxies: ProxyPolicy, report: SettingsReport)
        /// All problems found; the old settings stay in force.
        case rejected([String])
    }

    func logWarnings(of settings: Settings) {
        for warning in settings.warnings {
            logger.warning("a setting has no effect", metadata: ["reason": "\(warning)"])
        }
    }

    /// Reads the configuration again and applies it, or reports why the old one stays; then rescans the lists folder.
    ///
    /// Returns the result once the status shows it.
    func reload(_ agent: RunningAgent) async -> ReloadReport {
        let (loop, lists) = (agent.loop, agent.lists)
        switch readConfiguration() {
        case .accepted(let change, let proxies, let report):
            var settings = change.settings
            settings.fetch.concurrency = min(settings.fetch.concurrency, budget.possibleDownloads)
            loop.effects.configure(settings, proxies)
            await loop.hand(.configured(settings, needRestart: change.needRestart))
            agent.latestSettings.set(report)
            lists.configure(settings.lists)
            loop.emit(.configurationReloaded(changed: change.changed))
            logWarnings(of: settings)
            if !change.needRestart.isEmpty {
                logger.warning(
                    "some changed settings need a restart",
                    metadata: ["settings": "\(change.needRestart.joined(separator: ", "))"])
            }
            return ReloadReport(changed: change.changed, needRestart: change.needRestart)
        case .rejected(let problems):
            // The event tells the first one.
            for problem in problems.dropFirst() {
                logger.error("configuration error", metadata: ["reason": "\(problem)"])
            }
            let rest = problems.count > 1 ? " (and \(problems.count - 1) more)" : ""
            let reason = (problems.first ?? "") + rest
            await loop.hand(.misconfigured(reason: reason))
            loop.emit(.configurationRejected(reason: reason))
            lists.requestScan(isThorough: true)
            return ReloadReport(errors: problems)
        }
    }
}
