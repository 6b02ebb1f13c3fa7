// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import HTTPRules

/// The route of requests to an origin.
package final class Route: Sendable {
    /// The host to connect to: the proxy if there is one, else the origin.
    package let host: String
    /// The policy that checks each address right before connecting; `nil` for a proxy, which the administrator chose.
    let policy: AddressPolicy?
    /// The setting that permits an address which would be refused otherwise; `nil` if none is needed.
    package let setting: String?
    /// The entry for libcurl's cache of addresses (`CURLOPT_RESOLVE`); `nil` if the host is an address.
    let entry: String?

    /// Creates a route.
    ///
    /// - Parameters:
    ///   - host: The host to connect to.
    ///   - port: Its port.
    ///   - addresses: Its addresses, at least one: libcurl never resolves a name.
    ///   - policy: The policy that checks each address.
    ///   - setting: The setting that permits an address which would be refused otherwise.
    package init(host: String, port: Int, addresses: [IPAddress], policy: AddressPolicy?, setting: String?) {
        self.host = host
        self.policy = policy
        self.setting = setting
        let texts = addresses.map { $0.bytes.count == 16 ? "[\($0)]" : "\($0)" }
        // With a “+” the entry expires, like one that libcurl resolved itself.
        entry = FetchTarget.isNoName(host) ? nil : "+\(host):\(port):\(texts.joined(separator: ","))"
    }
}

/// One GET request.
package struct TransferRequest {
    package var url: String
    /// The header fields besides `Host` and `User-Agent`.
    package var fields: [(name: String, value: String)]
    package var proxy: Proxy?
    package var route: Route
    /// Whether HTTP/2 may be negotiated.
    package var mayMultiplex: Bool
    /// How long connecting may take; the receiver's owner sees to the other limits.
    package var limits: RequestLimits

    package init(
        url: String, fields: [(name: String, value: String)], proxy: Proxy?, route: Route, mayMultiplex: Bool,
        limits: RequestLimits
    ) {
        self.url = url
        self.fields = fields
        self.proxy = proxy
        self.route = route
        self.mayMultiplex = mayMultiplex
        self.limits = limits
    }
}
