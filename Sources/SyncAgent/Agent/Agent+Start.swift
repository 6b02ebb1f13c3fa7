// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import HTTPRules
import Logging
import SyncPlan

extension Agent {
    func logStart() {
        var facts: Logger.Metadata = [
            "version": "\(Version.current)", "lists": "\(folders.lists)", "cache": "\(folders.cache)",
            "state": "\(folders.state)", "socket": "\(folders.socket)",
        ]
        let networks = settings.network.allow.map { "\($0)" }
        facts["networks"] = "\((["public"] + networks).joined(separator: " "))"
        let proxies = proxies.proxies.map(\.description).sorted()
        if !proxies.isEmpty { facts["proxy"] = "\(proxies.joined(separator: " "))" }
        let changed = report.settings.filter { $0.value != $0.default }.map { "\($0.key)=\($0.value)" }
        if !changed.isEmpty { facts["settings"] = "\(changed.joined(separator: " "))" }
        logger.info("started", metadata: facts)
        logWarnings(of: settings)
    }
}
