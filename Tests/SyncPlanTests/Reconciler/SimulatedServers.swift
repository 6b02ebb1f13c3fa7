// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules
import SyncPlan

/// Servers that die, come back and ask to be left alone, and what the agent owes them.
struct SimulatedServers {
    private struct Memory {
        var failures = 0
        var failedAt: Timestamp
        var notBefore: Timestamp
    }

    /// The hosts that fail whatever they are asked.
    var dead: Set<String> = []
    private var memories: [String: Memory] = [:]

    /// How a dead server fails.
    static func failure(using generator: inout some RandomNumberGenerator) -> FetchFailure {
        let wait: [Duration] = [.zero, .seconds(3), .seconds(500), .seconds(100_000)]
        let failures: [FetchFailure] = [
            FetchFailure(.connect, "no connection"), .timeout("the test's patience"), .status(500),
            .status(429), .status([429, 503].randomElement(using: &generator) ?? 429),
        ]
        var failure = failures.randomElement(using: &generator) ?? failures[0]
        if case .http = failure.code { failure.retryAfter = wait.randomElement(using: &generator) }
        return failure
    }

    /// Notes what a server did, and what it may ask for in doing so.
    mutating func note(_ outcome: FetchOutcome, of request: FetchRequest, at now: Timestamp) {
        let origin = request.source.origin
        switch outcome {
        case .cancelled, .noRoom: break
        case .failed(let failure) where failure.blame == .agent: break
        case .failed(let failure) where failure.blame == .origin:
            var memory = memories[origin] ?? Memory(failedAt: now, notBefore: now)
            if memory.failedAt + .seconds(86_400) <= now { memory.failures = 0 }
            memory.failures += 1
            memory.failedAt = now
            memory.notBefore = max(memory.notBefore, now + min(failure.wait ?? .zero, .seconds(86_400)))
            memories[origin] = memory
        case .image, .notModified, .failed: memories[origin]?.failures = 0
        }
    }

    /// Fails if a server is asked that is to be left alone, or a broken one by two requests at once.
    func check(_ request: FetchRequest, beside others: some Sequence<FetchRequest>, at now: Timestamp) throws(Violation)
    {
        let origin = request.source.origin
        guard let memory = memories[origin], memory.failedAt + .seconds(86_400) > now else { return }
        if memory.notBefore > now {
            throw Violation("\(request.url) is asked for at \(now), and its server said not before \(memory.notBefore)")
        }
        if memory.failures >= OriginHealth.threshold, others.contains(where: { $0.source.origin == origin }) {
            throw Violation("\(request.url) is asked for beside another one, and its server is broken")
        }
    }

    /// Expects nothing of an agent that died before it could store what it knew.
    mutating func forget() {
        memories = [:]
    }
}
