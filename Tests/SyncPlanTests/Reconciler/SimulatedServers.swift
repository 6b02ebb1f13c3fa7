// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules

@testable import SyncPlan

/// Servers that die, come back and ask to be left alone, and what the agent owes them; some answer by themselves.
struct SimulatedServers {
    /// What a server answers to a request that is sent at a time, and how long that takes.
    typealias Server = (FetchRequest, Timestamp) -> (after: Duration, outcome: FetchOutcome)

    /// An answer on its way.
    private struct Answer {
        var time: Timestamp
        var url: IconURL
        var outcome: FetchOutcome
    }

    /// The requests to a host that answers by itself.
    struct Traffic {
        var requests = 0
        var inFlight = 0
        /// How many were in flight at once, at most.
        var most = 0
        /// How long after the start the last image came.
        var lastImage: Duration = .zero
    }

    private struct Memory {
        var failures = 0
        var failedAt: Timestamp
        var notBefore: Timestamp
    }

    /// A delay that a server asked for in answer to a request for one URL.
    private struct Delay {
        var url: IconURL
        var time: Timestamp
        var delay: Duration
    }

    /// The hosts that fail whatever they are asked.
    var dead: Set<String> = []
    private var memories: [String: Memory] = [:]
    /// The delays that servers asked for since their last answer, by origin.
    private var delays: [String: [Delay]] = [:]
    /// The hosts that answer by themselves, as time passes.
    var hosts: [String: Server] = [:]
    /// What answers for all other hosts; `nil` if a test ends their downloads.
    var anyHost: Server?
    /// Whether they speak HTTP/2; `nil` if that is unknown.
    var isMultiplexed: Bool?
    private var traffic: [String: Traffic] = [:]
    /// No more than the downloads that may run at once.
    private var answers: [Answer] = []

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

    /// Records what a server did, and what it asked for in doing so.
    ///
    /// `retryMax` is the longest time for which the delays of single URLs hold up their server.
    mutating func record(
        _ outcome: FetchOutcome, of request: FetchRequest, at now: Timestamp, retryMax: Duration
    ) {
        let origin = request.source.origin
        switch outcome {
        case .cancelled, .noRoom: break
        case .failed(let failure) where failure.blame == .agent: break
        case .failed(let failure) where failure.blame == .origin:
            var memory = memories[origin] ?? Memory(failedAt: now, notBefore: now)
            if memory.failedAt + .seconds(86_400) <= now { memory.failures = 0 }
            memory.failures += 1
            memory.failedAt = now
            let delay = commonDelay(after: failure, of: request, at: now, retryMax: retryMax)
            memory.notBefore = max(memory.notBefore, now + min(delay, .seconds(86_400)))
            memories[origin] = memory
        case .image, .notModified, .failed:
            memories[origin]?.failures = 0
            delays[origin] = nil
        }
    }

    /// How long a server is to be left alone after a failure: only a 429, or three URLs within a minute, mean all of it.
    private mutating func commonDelay(
        after failure: FetchFailure, of request: FetchRequest, at now: Timestamp, retryMax: Duration
    ) -> Duration {
        guard let wait = failure.wait else { return .zero }
        if failure.code == .http(429) { return wait }
        let origin = request.source.origin
        let recent = (delays[origin] ?? []).filter {
            $0.url != request.url && $0.time <= now && now - $0.time < .seconds(60)
        }
        let last = (recent + [Delay(url: request.url, time: now, delay: wait)]).suffix(3)
        delays[origin] = Array(last)
        return last.count < 3 ? .zero : min(last.map(\.delay).min() ?? .zero, retryMax)
    }

    /// Expects nothing of the agent for this origin's sake: a user wants an icon of it now.
    mutating func forgive(_ origin: String) {
        (memories[origin], delays[origin]) = (nil, nil)
    }

    /// Expects no more of delays that were asked for one URL at a time: an agent that starts does not know them.
    mutating func forgetDelays() {
        delays = [:]
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
        delays = [:]
    }
}

extension SimulatedServers {
    /// A server that has every image, and sends it after the given time.
    static func healthy(_ time: Duration) -> Server {
        { request, _ in
            let image = StagedImage(name: request.url.text, image: Sample.image(request.url.text))
            return (time, .image(image, Sample.response(etag: request.url.text)))
        }
    }

    /// A server that does not answer before the agent loses patience.
    static let silent: @Sendable (FetchRequest, Timestamp) -> (after: Duration, outcome: FetchOutcome) = { _, _ in
        (.seconds(60), .failed(.timeout("60 s")))
    }

    static func host(of url: IconURL) -> String { (try? FetchTarget(url.text).host) ?? "" }

    /// The requests to a host that answers by itself.
    subscript(host: String) -> Traffic { traffic[host] ?? Traffic() }

    /// How many requests are in flight.
    var inFlight: Int { answers.count }

    /// When the next answer comes.
    var nextAnswer: Timestamp? { answers.lazy.map(\.time).min() }

    /// Sends a request, if its server answers by itself.
    mutating func send(_ request: FetchRequest, at now: Timestamp) {
        guard anyHost != nil || !hosts.isEmpty else { return }
        let host = Self.host(of: request.url)
        guard let server = hosts[host] ?? anyHost else { return }
        var counts = self[host]
        counts.requests += 1
        counts.inFlight += 1
        counts.most = max(counts.most, counts.inFlight)
        traffic[host] = counts
        let (time, outcome) = server(request, now)
        answers.append(Answer(time: now + time, url: request.url, outcome: outcome))
    }

    /// Takes the next answer: of those that come at one time, the one whose request was sent first.
    mutating func receive() -> (url: IconURL, outcome: FetchOutcome)? {
        guard let next = answers.indices.min(by: { answers[$0].time < answers[$1].time }) else { return nil }
        let answer = answers.remove(at: next)
        let host = Self.host(of: answer.url)
        traffic[host]?.inFlight -= 1
        if case .image = answer.outcome { traffic[host]?.lastImage = answer.time - Sample.start }
        return (answer.url, answer.outcome)
    }
}
