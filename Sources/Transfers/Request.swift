// SPDX-License-Identifier: Apache-2.0
package import SyncPlan

/// Where a request goes.
package struct Route: Sendable {
    /// The host to connect to, which is the proxy's if there is one.
    package var host: String
    package var port: Int
    /// Its addresses, of which there is one at least: libcurl never resolves a name.
    package var addresses: [IPAddress]
    /// What judges each address right before a connection to it; `nil` for a proxy, which the owner of the machine has named.
    package var policy: AddressPolicy?
    /// The setting without which an address would be refused; `nil` if it needs none.
    package var setting: String?

    package init(host: String, port: Int, addresses: [IPAddress], policy: AddressPolicy?, setting: String?) {
        self.host = host
        self.port = port
        self.addresses = addresses
        self.policy = policy
        self.setting = setting
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
