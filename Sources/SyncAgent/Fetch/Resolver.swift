// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import SyncPlan
import Synchronization
import Transfers

/// Judges a host by the addresses it resolves to, before anything connects to it.
///
/// Addresses are judged, never spellings: `127.1`, `2130706433` and `[::ffff:127.0.0.1]` all are loopback.
final class Resolver: Sendable {
    /// How long an answer of the system's resolver is used again.
    private static let lifetime: Duration = .seconds(30)

    private typealias Answer = Task<SystemResolver.Answer, Never>

    private struct Destination: Hashable {
        var host: String
        var port: Int
        /// Whether it is that of an upstream, which may be in a local network.
        var isConfigured: Bool

        init(_ target: FetchTarget, isConfigured: Bool) {
            (host, port, self.isConfigured) = (target.host, target.port, isConfigured)
        }
    }

    private struct JudgedRoute {
        var route: Route
        var expires: ContinuousClock.Instant
    }

    /// How long what is known of the network's translation to IPv4 counts.
    private static let discoveryLifetime: Duration = .seconds(3600)

    private struct Discovery {
        var task: Task<[NAT64Prefix], Never>
        var expires: ContinuousClock.Instant
    }

    private let policy: Settings.Network
    private let answers = Mutex(ExpiringTable<String, Answer>())
    private let discovery = Mutex<Discovery?>(nil)
    /// The ways that were judged by an answer, for as long as that is used again.
    private let routes = Mutex<[Destination: JudgedRoute]>([:])

    init(policy: Settings.Network) {
        self.policy = policy
    }

    /// The way of a request without a proxy, if it was judged for another one a moment ago.
    func knownRoute(to target: FetchTarget, isConfigured: Bool = false) -> Route? {
        let known = routes.withLock { $0[Destination(target, isConfigured: isConfigured)] }
        return known.flatMap { $0.expires > .now ? $0.route : nil }
    }

    /// Finds out where a request goes, if it may.
    ///
    /// - Parameters:
    ///   - target: What is asked for.
    ///   - proxy: The proxy that it is asked through, which resolves names: then only addresses are judged.
    ///   - isConfigured: Whether it is an upstream, which may be in a local network: the administrator named it.
    /// - Returns: The way, whose addresses have been judged.
    /// - Throws: A ``FetchFailure`` with code `address-refused` or `dns`, or a `Shortage` if the system has not the means
    ///   to look.
    func route(to target: FetchTarget, through proxy: Proxy?, isConfigured: Bool = false) async throws -> Route {
        if proxy == nil, let known = knownRoute(to: target, isConfigured: isConfigured) { return known }
        var policy = policy.addresses(for: target.host)
        if isConfigured { policy.localSetting = "upstream.urls" }
        // RFC 6761, section 6.3: these are loopback, and no name server is asked.
        if Self.isLocalhost(target.host) {
            let refusals = Self.loopback.compactMap(policy.refusal)
            if refusals.count == Self.loopback.count, let refusal = refusals.first {
                throw FetchFailure.address(refusal, of: target.host)
            }
        }
        guard let proxy else {
            let (addresses, expires) = try await addresses(of: target.host)
            // Only where an address looks public can a prefix that nobody else knows hide another one.
            let mayBeTranslated = addresses.contains { $0.bytes.count == 16 && policy.verdict(on: $0) == .isPublic }
            if mayBeTranslated { policy.translations = await translations() }
            let setting = try Self.judge(addresses, of: target.host, by: policy)
            let route = Route(
                host: target.host, port: target.port, addresses: addresses, policy: policy, setting: setting)
            // What the network translates may become known before that.
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

    /// - Returns: The setting without which an address would be refused; `nil` if none would.
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

    /// - Returns: The addresses, and how long they are used again.
    private func addresses(of host: String) async throws -> (list: [IPAddress], expires: ContinuousClock.Instant) {
        let answer: SystemResolver.Answer
        let expires: ContinuousClock.Instant
        if FetchTarget.isNoName(host) {
            // Nobody is asked for it, and nothing takes its time.
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

    /// The prefixes by which the network translates to IPv4 (RFC 7050); none if it does not, or does not tell.
    ///
    /// They are asked for once an hour. The first answer is waited for; later on, what was known counts until there is one.
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
