// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat

/// Checks the `Host` field, for loopback listeners.
///
/// A web page can rebind its own host name to a loopback address (DNS rebinding), and would then be same-origin. So the
/// field must name a loopback address or `localhost`.
enum OwnHost {
    static func names(_ host: String?, port: Int?) -> Bool {
        guard let host = host?.asciiLowercased else { return false }
        // Without a port, the field means port 80.
        let hasPort = host.utf8.last != UInt8(ascii: "]") && host.utf8.contains(UInt8(ascii: ":"))
        guard let address = ListenAddress(hasPort ? host : "\(host):80") else { return false }
        return address.isLoopback && address.port == port
    }
}
