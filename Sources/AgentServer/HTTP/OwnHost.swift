// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import SyncPlan

/// The check of the `Host` field, for listeners that only this machine reaches.
///
/// A page in a browser can have a name of its own stand for a loopback address (DNS rebinding), and would then be a page
/// of the same site. So the field must name a loopback address, or `localhost`.
enum OwnHost {
    /// Whether a field names a loopback address with the port of the listener.
    static func names(_ host: String?, port: Int?) -> Bool {
        guard let host = host?.asciiLowercased else { return false }
        // Without a port it means 80.
        let hasPort = host.utf8.last != UInt8(ascii: "]") && host.utf8.contains(UInt8(ascii: ":"))
        guard let address = ListenAddress(hasPort ? host : "\(host):80") else { return false }
        return address.isLoopback && address.port == port
    }
}
