// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import SyncPlan
import Synchronization
import Transfers

/// Resolves hosts, and checks their addresses before anything connects to them.
///
/// It checks addresses, never spellings: `127.1`, `2130706433` and `[::ffff:127.0.0.1]` all are loopback.
final class Resolver: Sendable {
    /// How long an answer of the system's resolver is cached.
    private static let lifetime: Duration = .seconds(30)

    private typealias Answer = Task<SystemResolver.Answer, Never>

    private struct Destination: Hashable {
        var host: String
        var port: Int
        /// Whether it is an upstream, which may be in a local network.
        var isConfigured: Bool

        init(_ target: FetchTarget, isConfigured: Bool) {
            (host, port, self.isConfigured) = (target.host, target.port, isConfigured)
        }
    }

    private struct JudgedRoute {
        var route: Route
        var expires: ContinuousClock.Instant
    }

    /// How long the NAT64 prefixes of the network are cached.
    private static let discoveryLifetime: Duration = .seconds(3600)

    private struct Discovery {
        var task: Task<[NAT64Prefix], Never>
        var expires: ContinuousClock.Instant
    }

    private let policy: Settings.Network
    private let answers = Mutex(ExpiringTable<String, Answer>())
    private let discovery = Mutex<Discovery?>(nil)
    /// Checked routes, each cached for as long as the answer that it is based on.
    private let routes = Mutex<[Destination: JudgedRoute]>([:])

    init(policy: Settings.Network) {
        self.policy = policy
    }

    /// The route of a request without a proxy, if one is cached.
    func knownRoute(to target: FetchTarget, isConfigured: Bool = false) -> Route? {
        let known = routes.withLock { $0[Destination(target, isConfigured: isConfigured)] }
        return known.flatMap { $0.expires > .now ? $0.route : nil }
    }

    /// Resolves and checks the route of a request.
    ///
    /// A proxy resolves names itself: then only numeric addresses are checked. An upstream may be in a local network,
    /// because the administrator named it.
    ///
    /// - Throws: A ``FetchFailure`` with code `address-refused` or `dns`, or a `Shortage` if resources for a lookup
    ///   are short.
    func route(to target: FetchTarget, through proxy: Proxy?, isConfigured: Bool = false) async throws -> Route {
        if proxy == nil, let known = knownRoute(to: target, isConfigured: isConfigured) { return known }
        var policy = policy.addresses(for: target.host)
        if isConfigured { policy.localSetting = "upstream.urls" }
        // RFC 6761, section 6.3: these names are loopback, and no name server is asked.
        if Self.isLocalhost(target.host) {
            let refusals = Self.loopback.compactMap(policy.refusal)
            if refusals.count == Self.loopback.count, let refusal = refusals.first {
                throw FetchFailure.address(refusal, of: target.host)
            }
        }
        guard let proxy else {
            let (addresses, expires) = try await addresses(of: target.host)
            // Only an IPv6 address that looks public can hide another one behind the network's own NAT64 prefix.
            let mayBeTranslated = addresses.contains { $0.bytes.count == 16 && policy.verdict(on: $0) == .isPublic }
            if mayBeTranslated { policy.translations = await translations() }
            let setting = try Self.judge(addresses, of: target.host, by: policy)
            let route = Route(
                host: target.host, port: target.port, addresses: addresses, policy: policy, setting: setting)
            // Otherwise not cached: the network's prefixes may become known before the route expires.
            if !mayBeTranslated { keep(route, to: target, isConfigured: isConfigured, until: expires) }
            return route
        }
        let setting = try Self.judge(SystemResolver.numericAddresses(of: target.host), of: target.host, by: policy)
        return Route(
            host: proxy.host, port: proxy.port, addresses: try await addresses(of: proxy.host).list, policy: nil,
            setting: setting)
    }

    private func keep(
        _ route: Route, to target: FetchTarget, isConfigured: Bool, until end: ContinuousClock.Instant
    ) {
        routes.withLock { routes in
            if routes.count >= 1000 { routes = [:] }
            routes[Destination(target, isConfigured: isConfigured)] = JudgedRoute(route: route, expires: end)
        }
    }

    /// - Returns: The setting without which an address would be refused; `nil` if all addresses are public.
    private static func judge(
        _ addresses: [IPAddress], of host: String, by policy: AddressPolicy
    ) throws(FetchFailure) -> String? {
        var setting: String?
        for address in addresses {
            switch policy.verdict(on: address) {
            case .isPublic: continue
            case .allowed(let name): setting = name
            case .refused(let refusal): throw FetchFailure.address(refusal, of: host)
            }
        }
        return setting
    }

    private static let loopback = [IPAddress("127.0.0.1"), IPAddress("::1")].compactMap(\.self)

    private static func isLocalhost(_ host: String) -> Bool {
        let name = host.asciiLowercased
        let labels = (name.ends(withBytes: ".") ? name.droppingLast(bytes: 1) : name).split(
            atByte: ".", omittingEmpty: false)
        return labels.last == "localhost"
    }

    /// - Returns: The addresses, and when their cache entry expires.
    private func addresses(of host: String) async throws -> (list: [IPAddress], expires: ContinuousClock.Instant) {
        let answer: SystemResolver.Answer
        let expires: ContinuousClock.Instant
        if FetchTarget.isNoName(host) {
            // Numeric: needs no name server, and takes no time.
            (answer, expires) = (SystemResolver.lookUp(host), .now + Self.lifetime)
        } else {
            let asked = lookUp(host)
            (answer, expires) = (await asked.task.value, asked.expires)
        }
        switch answer {
        case .addresses(let addresses) where !addresses.isEmpty: return (addresses, expires)
        case .addresses: break
        case .failed(let errno): if let shortage = errno.flatMap({ Shortage($0) }) { throw shortage }
        }
        forget(host)
        throw FetchFailure(.dns, "the host name \(host) cannot be resolved")
    }

    /// The NAT64 prefixes of the network (RFC 7050); none if it has none or its resolver does not tell.
    ///
    /// They are looked up once an hour. The first answer is awaited; later lookups use the old answer until there is a
    /// new one.
    private func translations() async -> [NAT64Prefix] {
        let now = ContinuousClock.now
        let task = discovery.withLock { discovery in
            if let discovery, discovery.expires > now { return discovery.task }
            let last = discovery?.task
            let next = Task { [weak self] in
                if case .addresses(let addresses) = await Self.ask(NAT64Prefix.discoveryName, .v6) {
                    return NAT64Prefix.prefixes(in: addresses).sorted { "\($0)" < "\($1)" }
                }
                self?.discovery.withLock { $0?.expires = .now + Self.lifetime }
                return await last?.value ?? []
            }
            discovery = Discovery(task: last ?? next, expires: now + Self.discoveryLifetime)
            if last != nil {
                Task { [weak self] in
                    _ = await next.value
                    self?.discovery.withLock { $0?.task = next }
                }
            }
            return last ?? next
        }
        return await task.value
    }

    private func forget(_ host: String) {
        answers.withLock { $0.remove(host) }
    }

    private func lookUp(_ host: String) -> (task: Answer, expires: ContinuousClock.Instant) {
        let now = ContinuousClock.now
        return answers.withLock { answers in
            if let answer = answers.value(of: host, at: now) { return (answer.value, answer.end) }
            let (task, end) = (Task { await Self.ask(host) }, now + Self.lifetime)
            answers.insert(task, for: host, until: end, at: now)
            return (task, end)
        }
    }

    private static func ask(_ host: String, _ family: SystemResolver.Family = .any) async -> SystemResolver.Answer {
        await onOwnThread("resolver") { SystemResolver.lookUp(host, family) }
    }
}
