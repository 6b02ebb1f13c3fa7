// SPDX-License-Identifier: Apache-2.0
package import SyncPlan
package import WebAddresses

/// Where requests go.
package final class Route: Sendable {
    /// The host to connect to, which is the proxy's if there is one.
    package let host: String
    /// What judges each address right before a connection to it; `nil` for a proxy, which the owner of the machine has named.
    let policy: AddressPolicy?
    /// The setting without which an address would be refused; `nil` if it needs none.
    package let setting: String?
    /// What libcurl is to think that the name resolves to; `nil` for what is no name.
    let entry: String?

    /// - Parameters:
    ///   - host: The host to connect to.
    ///   - port: Its port.
    ///   - addresses: Its addresses, of which there is one at least: libcurl never resolves a name.
    ///   - policy: What judges each address.
    ///   - setting: The setting without which an address would be refused.
    package init(host: String, port: Int, addresses: [IPAddress], policy: AddressPolicy?, setting: String?) {
        self.host = host
        self.policy = policy
        self.setting = setting
        let texts = addresses.map { $0.bytes.count == 16 ? "[\($0)]" : "\($0)" }
        // With a “+” the entry is forgotten after a while, as one that libcurl looked up itself.
        entry = FetchTarget.isNoName(host) ? nil : "+\(host):\(port):\(texts.joined(separator: ","))"
    }
}

/// One GET request.
package struct TransferRequest {
    package var url: String
    /// The fields besides `Host` and `User-Agent`.
    package var fields: [(name: String, value: String)]
    package var proxy: Proxy?
    package var route: Route
    /// Whether HTTP/2 may be agreed on.
    package var mayMultiplex: Bool

    package init(
        url: String, fields: [(name: String, value: String)], proxy: Proxy?, route: Route, mayMultiplex: Bool
    ) {
        self.url = url
        self.fields = fields
        self.proxy = proxy
        self.route = route
        self.mayMultiplex = mayMultiplex
    }
}
