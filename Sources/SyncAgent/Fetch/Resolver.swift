// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import HTTPRules
import Synchronization
import Transfers

/// Resolves hosts, and checks their addresses before anything connects to them.
///
/// It checks the addresses that a name has, not the text of the URL: an address can be written in several ways. Requests
/// go to the permitted addresses of a name alone, and to none if it has none.
final class Resolver: Sendable {
    /// Resolves a name; may block.
    typealias LookUp = @Sendable (_ host: String, _ family: SystemResolver.Family) -> SystemResolver.Answer

    /// How long an answer of the system's resolver is cached.
    private static let lifetime: Duration = .seconds(30)

    private struct Destination: Hashable {
        var host: String
        var port: Int
        /// Whether a setting names it: it may be in a local network.
        var isConfigured: Bool

        init(_ target: FetchTarget, isConfigured: Bool) {
            (host, port, self.isConfigured) = (target.host, target.port, isConfigured)
        }
    }

    private let policy: Settings.Network
    private let lookUp: LookUp
    private let lookups = Mutex(ExpiringTable<String, HostLookup>())
    private let prefixes = Mutex(KnownPrefixes())
    /// Checked routes, each cached for as long as the answer that it is based on.
    private let routes = Mutex(ExpiringTable<Destination, Route>())

    init(policy: Settings.Network, lookUp: @escaping LookUp = { SystemResolver.lookUp($0, $1) }) {
        self.policy = policy
        self.lookUp = lookUp
    }

    /// The route of a request without a proxy, if one is cached.
    func knownRoute(to target: FetchTarget, isConfigured: Bool = false) -> Route? {
        if target.isFile { return .local }
        return routes.withLock { $0.value(of: Destination(target, isConfigured: isConfigured), at: .now)?.value }
    }

    /// Resolves and checks the route of a request.
    ///
    /// A proxy resolves names itself: then only numeric addresses are checked. An upstream may be in a local network,
    /// because the administrator named it.
    ///
    /// - Throws: A ``FetchFailure`` with code `address-refused` or `dns`, a `Shortage` if resources for a lookup are
    ///   short, or `CancellationError`.
    func route(to target: FetchTarget, through proxy: Proxy?, isConfigured: Bool = false) async throws -> Route {
        if proxy == nil, let known = knownRoute(to: target, isConfigured: isConfigured) { return known }
        var policy = policy.addresses(for: target.host)
        if isConfigured { policy.localSetting = "upstream.urls" }
        if let refusal = policy.refusal(ofHost: target.host) { throw FetchFailure.address(refusal, of: target.host) }
        guard let proxy else {
            let (addresses, expires) = try await addresses(of: target.host)
            // Only an IPv6 address that looks public can hide another one behind the network's own NAT64 prefix.
            let mayBeTranslated = addresses.contains { $0.bytes.count == 16 && policy.verdict(on: $0) == .isPublic }
            if mayBeTranslated { policy.translations = try await translations() }
            let choice = try Self.choose(from: addresses, of: target.host, by: policy)
            let route = Route(
                host: target.host, port: target.port, addresses: choice.permitted, policy: policy,
                setting: choice.setting, refusal: choice.refusal)
            // Otherwise not cached: the network's prefixes may become known before the route expires.
            if !mayBeTranslated {
                let destination = Destination(target, isConfigured: isConfigured)
                routes.withLock { $0.insert(route, for: destination, until: expires, at: .now) }
            }
            return route
        }
        let numeric = SystemResolver.numericAddresses(of: target.host)
        let choice = try Self.choose(from: numeric, of: target.host, by: policy)
        return Route(
            host: proxy.host, port: proxy.port, addresses: try await addresses(of: proxy.host).list, policy: nil,
            setting: choice.setting)
    }

    /// - Throws: A ``FetchFailure`` with code `address-refused` if there are addresses and none is permitted.
    private static func choose(
        from addresses: [IPAddress], of host: String, by policy: AddressPolicy
    ) throws(FetchFailure) -> AddressChoice {
        let choice = AddressChoice(from: addresses, by: policy)
        if choice.permitted.isEmpty, let refusal = choice.refusal { throw FetchFailure.address(refusal, of: host) }
        return choice
    }

    /// - Returns: The addresses, and when their cache entry expires.
    private func addresses(of host: String) async throws -> (list: [IPAddress], expires: ContinuousClock.Instant) {
        let now = ContinuousClock.now
        let answer: SystemResolver.Answer
        var expires = now + Self.lifetime
        if FetchTarget.isNoName(host) {
            // Numeric: needs no name server, and takes no time.
            answer = SystemResolver.lookUp(host)
        } else {
            let lookup = lookups.withLock { lookups -> (value: HostLookup, end: ContinuousClock.Instant) in
                if let known = lookups.value(of: host, at: now) { return known }
                let new = HostLookup(host, by: lookUp)
                lookups.insert(new, for: host, until: expires, at: now)
                return (new, expires)
            }
            answer = try await lookup.value.wait()
            expires = lookup.end
        }
        switch answer {
        case .addresses(let addresses) where !addresses.isEmpty: return (addresses, expires)
        case .addresses: break
        case .failed(let errno): if let shortage = errno.flatMap({ Shortage($0) }) { throw shortage }
        }
        lookups.withLock { $0.remove(host) }
        throw FetchFailure(.dns, "the host name \(host) cannot be resolved")
    }

    // MARK: NAT64

    private struct KnownPrefixes {
        /// How long the prefixes are cached.
        private static let lifetime: Duration = .seconds(3600)

        /// `nil` until the first answer.
        private(set) var list: [NAT64Prefix]?
        private(set) var lookup: HostLookup?
        private var expires = ContinuousClock.now

        /// Takes the answer of a lookup if there is one, and begins the next if the prefixes have expired.
        mutating func update(by lookUp: @escaping LookUp) {
            let now = ContinuousClock.now
            if let answer = lookup?.result {
                lookup = nil
                if case .addresses(let addresses) = answer {
                    (list, expires) = (
                        NAT64Prefix.prefixes(in: addresses).sorted { "\($0)" < "\($1)" }, now + Self.lifetime
                    )
                } else {
                    (list, expires) = (list ?? [], now + Resolver.lifetime)
                }
            }
            if lookup == nil, expires <= now { lookup = HostLookup(NAT64Prefix.discoveryName, .v6, by: lookUp) }
        }
    }

    /// The NAT64 prefixes of the network (RFC 7050); none if it has none or its resolver does not tell.
    ///
    /// They are looked up once an hour. The first answer is awaited; later lookups use the old answer until there is a
    /// new one.
    private func translations() async throws -> [NAT64Prefix] {
        while true {
            let (list, lookup) = prefixes.withLock { prefixes in
                prefixes.update(by: lookUp)
                return (prefixes.list, prefixes.lookup)
            }
            if let list { return list }
            _ = try await lookup?.wait()
        }
    }
}
