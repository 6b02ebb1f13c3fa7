// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import SyncPlan
import Synchronization

/// Judges a host by the addresses it resolves to, before anything connects to it.
///
/// Addresses are judged, never spellings: `127.1`, `2130706433` and `[::ffff:127.0.0.1]` all are loopback.
final class Resolver: Sendable {
    /// How long an answer of the system's resolver is used again.
    private static let lifetime: Duration = .seconds(30)

    private struct Answer {
        var task: Task<[IPAddress], Never>
        var expires: ContinuousClock.Instant
    }

    private let policy: NetworkPolicy
    private let answers = Mutex<[String: Answer]>([:])

    init(policy: NetworkPolicy) {
        self.policy = policy
    }

    /// Returns if the host may be connected to.
    ///
    /// - Parameters:
    ///   - host: A name or an address.
    ///   - isProxied: Whether a proxy resolves names: then only addresses are judged.
    /// - Returns: The setting without which the host would be refused; `nil` if it needs none.
    /// - Throws: A ``FetchFailure`` with code `address-refused` or `dns`, or a `CancellationError`.
    func judge(host: String, isProxied: Bool = false) async throws -> String? {
        let policy = policy.addresses(for: host)
        // RFC 6761, section 6.3: these are loopback, and no name server is asked.
        if Self.isLocalhost(host) {
            let refusals = Self.loopback.compactMap(policy.refusal)
            if refusals.count == Self.loopback.count, let refusal = refusals.first {
                throw FetchFailure.address(refusal, of: host)
            }
        }
        let addresses = isProxied ? Self.addresses(of: host, flags: AI_NUMERICHOST) : try await addresses(of: host)
        guard !addresses.isEmpty || isProxied else {
            throw FetchFailure("dns", "the name \(host) cannot be resolved", .passing)
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

    /// Waits for the answer, but not after the task was cancelled.
    private func addresses(of host: String) async throws -> [IPAddress] {
        let (answers, answer) = AsyncStream.makeStream(of: [IPAddress].self)
        let task = lookUp(host)
        Task {
            answer.yield(await task.value)
            answer.finish()
        }
        for await addresses in answers {
            if addresses.isEmpty { forget(host) }
            return addresses
        }
        throw CancellationError()
    }

    private func forget(_ host: String) {
        answers.withLock { $0[host] = nil }
    }

    private func lookUp(_ host: String) -> Task<[IPAddress], Never> {
        let now = ContinuousClock.now
        return answers.withLock { answers in
            if let answer = answers[host], answer.expires > now { return answer.task }
            if answers.count >= 1000 { answers = answers.filter { $0.value.expires > now } }
            let task = Task {
                await withCheckedContinuation { continuation in
                    // A serial queue of its own has a thread of its own, however many look-ups hang.
                    DispatchQueue(label: "syncagent.resolver").async {
                        continuation.resume(returning: Self.addresses(of: host))
                    }
                }
            }
            answers[host] = Answer(task: task, expires: now + Self.lifetime)
            return task
        }
    }

    /// Asks the system (`getaddrinfo(3)`), which may take seconds.
    private static func addresses(of host: String, flags: Int32 = 0) -> [IPAddress] {
        var hints = addrinfo()
        hints.ai_flags = flags
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        // No name server is asked for what is no name.
        if FetchTarget.endsInNumber(host) { hints.ai_flags = AI_NUMERICHOST }
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        return sequence(first: list) { $0?.pointee.ai_next }.prefix { $0 != nil }.compactMap { entry in
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
    }
}
