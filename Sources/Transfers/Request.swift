// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import HTTPRules

/// How requests to an origin connect.
package final class Route: Sendable {
    /// The host to connect to: the proxy if there is one, otherwise the origin.
    package let host: String
    /// Checks each address right before connecting, and before a request goes over a connection of another route.
    ///
    /// `nil` for a proxy, which the administrator chose.
    let policy: AddressPolicy?
    /// The setting that permits an otherwise refused address; `nil` if none is needed.
    package let setting: String?
    /// Why an address of the host is left out; `nil` if none is.
    package let refusal: AddressPolicy.Refusal?
    /// The host and port to connect to.
    let place: String
    /// The entry for libcurl's address cache (`CURLOPT_RESOLVE`); `nil` if the host is an address.
    let entry: String?

    /// Creates a route to these addresses alone.
    ///
    /// `addresses` must not be empty for a name, since libcurl never resolves names.
    package init(
        host: String, port: Int, addresses: [IPAddress], policy: AddressPolicy?, setting: String?,
        refusal: AddressPolicy.Refusal? = nil
    ) {
        self.host = host
        self.policy = policy
        self.setting = setting
        self.refusal = refusal
        place = "\(host):\(port)"
        let texts = addresses.map { $0.bytes.count == 16 ? "[\($0)]" : "\($0)" }
        // The “+” lets the entry expire, like one that libcurl resolved itself.
        entry = FetchTarget.isNoName(host) ? nil : "+\(place):\(texts.joined(separator: ","))"
    }
}

extension Route {
    /// The route to a file on this machine, which nothing connects to.
    package static let local = Route(host: "", port: 0, addresses: [], policy: nil, setting: nil)

    /// Why a request of this route may not go over a connection that was opened for another one.
    func refusal(of peer: IPAddress, openedFor opener: Route?) -> AddressPolicy.Refusal? {
        guard var policy else { return nil }
        // The network's NAT64 prefixes are looked up only for routes with IPv6 addresses, such as the opener's.
        policy.translations += opener?.policy?.translations ?? []
        return policy.refusal(of: peer)
    }
}

/// A GET request.
package struct TransferRequest {
    package var url: String
    /// The header fields besides `Host` and `User-Agent`.
    package var fields: [(name: String, value: String)]
    package var proxy: Proxy?
    package var route: Route
    /// Whether HTTP/2 may be negotiated.
    package var mayMultiplex: Bool
    /// Includes the connect timeout; the receiver's owner enforces the other limits.
    package var limits: RequestLimits
    /// The certificate for servers that ask for one.
    package var certificate: ClientCertificate?
    /// Whether it may open a connection beyond the limit of its host, rather than wait for one.
    package var isUrgent: Bool

    package init(
        url: String, fields: [(name: String, value: String)], proxy: Proxy?, route: Route, mayMultiplex: Bool,
        limits: RequestLimits, certificate: ClientCertificate? = nil, isUrgent: Bool = false
    ) {
        self.url = url
        self.fields = fields
        self.proxy = proxy
        self.route = route
        self.mayMultiplex = mayMultiplex
        self.limits = limits
        self.certificate = certificate
        self.isUrgent = isUrgent
    }
}
