// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import SyncPlan
import Synchronization
import SystemPackage

/// Judges a host by the addresses it resolves to, before anything connects to it.
///
/// Addresses are judged, never spellings: `127.1`, `2130706433` and `[::ffff:127.0.0.1]` all are loopback.
final class Resolver: Sendable {
    /// How long an answer of the system's resolver is used again.
    private static let lifetime: Duration = .seconds(30)

    /// What the system's resolver says of a name.
    private enum LookUp: Sendable {
        /// None, if the name has none.
        case addresses([IPAddress])
        /// It could not be asked, or had no answer; with what the system says of that.
        case failed(Errno?)
    }

    private struct Answer {
        var task: Task<LookUp, Never>
        var expires: ContinuousClock.Instant
    }

    /// How long what is known of the network's translation to IPv4 counts.
    private static let discoveryLifetime: Duration = .seconds(3600)

    private struct Discovery {
        var task: Task<[NAT64Prefix], Never>
        var expires: ContinuousClock.Instant
    }

    private let policy: NetworkPolicy
    private let answers = Mutex<[String: Answer]>([:])
    private let discovery = Mutex<Discovery?>(nil)

    init(policy: NetworkPolicy) {
        self.policy = policy
    }

    /// Returns if the host may be connected to.
    ///
    /// - Parameters:
    ///   - host: A name or an address.
    ///   - isProxied: Whether a proxy resolves names: then only addresses are judged.
    /// - Returns: The setting without which the host would be refused; `nil` if it needs none.
    /// - Throws: A ``FetchFailure`` with code `address-refused` or `dns`, a `Shortage` if the system has not the means to
    ///   look, or a `CancellationError`.
    func judge(host: String, isProxied: Bool = false) async throws -> String? {
        var policy = policy.addresses(for: host)
        // RFC 6761, section 6.3: these are loopback, and no name server is asked.
        if Self.isLocalhost(host) {
            let refusals = Self.loopback.compactMap(policy.refusal)
            if refusals.count == Self.loopback.count, let refusal = refusals.first {
                throw FetchFailure.address(refusal, of: host)
            }
        }
        let addresses = isProxied ? Self.numericAddresses(of: host) : try await addresses(of: host)
        guard !addresses.isEmpty || isProxied else {
            throw FetchFailure("dns", "the name \(host) cannot be resolved", .passing)
        }
        // Only where an address looks public can a prefix that nobody else knows hide another one.
        if !isProxied, addresses.contains(where: { $0.bytes.count == 16 && policy.verdict(on: $0) == .isPublic }) {
            policy.translations = try await translations()
        }
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
        let name = host.lowercased()
        let labels = (name.hasSuffix(".") ? name.dropLast() : name[...]).split(
            separator: ".", omittingEmptySubsequences: false)
        return labels.last == "localhost"
    }

    private func addresses(of host: String) async throws -> [IPAddress] {
        switch try await value(of: lookUp(host)) {
        case .addresses(let addresses):
            if addresses.isEmpty { forget(host) }
            return addresses
        case .failed(let errno):
            forget(host)
            if let shortage = errno.flatMap({ Shortage($0) }) { throw shortage }
            return []
        }
    }

    /// Waits for the end of a task, but not after the own one was cancelled.
    private func value<Value: Sendable>(of task: Task<Value, Never>) async throws -> Value {
        let (values, value) = AsyncStream.makeStream(of: Value.self)
        Task {
            value.yield(await task.value)
            value.finish()
        }
        for await value in values { return value }
        throw CancellationError()
    }

    /// The prefixes by which the network translates to IPv4 (RFC 7050); none if it does not, or does not tell.
    ///
    /// They are asked for once an hour. The first answer is waited for; later on, what was known counts until there is one.
    private func translations() async throws -> [NAT64Prefix] {
        let now = ContinuousClock.now
        let task = discovery.withLock { discovery in
            if let discovery, discovery.expires > now { return discovery.task }
            let last = discovery?.task
            let next = Task { [weak self] in
                if case .addresses(let addresses) = await Self.ask(NAT64Prefix.discoveryName, AF_INET6) {
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
        return try await value(of: task)
    }

    private func forget(_ host: String) {
        answers.withLock { $0[host] = nil }
    }

    private func lookUp(_ host: String) -> Task<LookUp, Never> {
        let now = ContinuousClock.now
        return answers.withLock { answers in
            if let answer = answers[host], answer.expires > now { return answer.task }
            if answers.count >= 1000 { answers = answers.filter { $0.value.expires > now } }
            let task = Task { await Self.ask(host) }
            answers[host] = Answer(task: task, expires: now + Self.lifetime)
            return task
        }
    }

    private static func ask(_ host: String, _ family: Int32 = AF_UNSPEC) async -> LookUp {
        await withCheckedContinuation { continuation in
            // A serial queue of its own has a thread of its own, however many look-ups hang.
            DispatchQueue(label: "syncagent.resolver").async {
                continuation.resume(returning: lookUp(host, family))
            }
        }
    }

    /// The addresses that a host is, if it is not a name.
    private static func numericAddresses(of host: String) -> [IPAddress] {
        if case .addresses(let addresses) = lookUp(host, flags: AI_NUMERICHOST) { addresses } else { [] }
    }

    /// Asks the system (`getaddrinfo(3)`), which may take seconds.
    private static func lookUp(_ host: String, _ family: Int32 = AF_UNSPEC, flags: Int32 = 0) -> LookUp {
        var hints = addrinfo()
        hints.ai_flags = flags
        hints.ai_family = family
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        // No name server is asked for what is no name.
        if FetchTarget.endsInNumber(host) { hints.ai_flags = AI_NUMERICHOST }
        var list: UnsafeMutablePointer<addrinfo>?
        switch getaddrinfo(host, nil, &hints, &list) {
        case 0: break
        case EAI_AGAIN: return .failed(nil)
        case EAI_SYSTEM: return .failed(Errno(rawValue: errno))
        case EAI_MEMORY: return .failed(.noMemory)
        default: return .addresses([])
        }
        defer { freeaddrinfo(list) }
        let addresses = sequence(first: list) { $0?.pointee.ai_next }.prefix { $0 != nil }.compactMap {
            entry -> IPAddress? in
            guard let address = entry?.pointee.ai_addr else { return nil }
            switch Int32(address.pointee.sa_family) {
            case AF_INET:
                return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    withUnsafeBytes(of: $0.pointee.sin_addr) { IPAddress(bytes: Array($0)) }
                }
            case AF_INET6:
                return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    withUnsafeBytes(of: $0.pointee.sin6_addr) { IPAddress(bytes: Array($0)) }
                }
            default: return nil
            }
        }
        return .addresses(addresses)
    }
}
