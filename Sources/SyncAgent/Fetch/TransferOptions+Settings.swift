// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Transfers

extension TransferOptions {
    /// The transfer options from the settings.
    ///
    /// With a proxy, libcurl may count the proxy as the host of all servers; the limit per host is then the total
    /// limit.
    init(_ settings: Settings, isProxied: Bool = false) {
        self.init()
        let fetch = settings.fetch
        userAgent = fetch.userAgent
        caFile = fetch.caFile
        caVersion = fetch.caDigest?.description
        totalTimeout = fetch.totalTimeout
        connections = 2 * fetch.concurrency
        // What waits in the buffers of the system was received by the machine, if not by the agent.
        receiveBuffer = fetch.maxRate.map { min(max($0.bytes / 64, 8 << 10), 256 << 10) }
        connectionsPerHost = isProxied ? fetch.concurrency : fetch.perHost
    }
}
