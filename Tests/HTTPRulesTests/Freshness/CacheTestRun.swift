// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

/// A cache test, run through a ``SimulatedCache`` with a clock that only moves when the test says so.
struct CacheTestRun {
    /// What went wrong, and whether the test did not even come to its question.
    struct Failure: Error, CustomStringConvertible {
        var step: Int
        var isSetup: Bool
        var message: String

        var description: String { "step \(step)\(isSetup ? " (setup)" : ""): \(message)" }
    }

    private static let start = Timestamp(sinceEpoch: .seconds(1_795_229_092))

    private let test: CacheTestCase
    private var origin: ScriptedOrigin
    private var cache: SimulatedCache

    /// Runs a test to its end.
    ///
    /// - Parameters:
    ///   - test: The test.
    ///   - stores: Whether the cache ever stores anything.
    /// - Throws: ``Failure`` at the first thing that is not as the test expects it.
    static func run(_ test: CacheTestCase, stores: Bool = true) throws(Failure) {
        var run = CacheTestRun(test, stores: stores)
        try run.run()
    }

    private init(_ test: CacheTestCase, stores: Bool) {
        self.test = test
        origin = ScriptedOrigin(test)
        cache = SimulatedCache(now: Self.start, stores: stores)
    }

    private mutating func run() throws(Failure) {
        var replies: [Reply] = []
        for (index, step) in test.requests.enumerated() {
            let url = "https://origin.example/icon?\(step.queryArgument ?? "")"
            let reply = cache.get(url, step: index + 1, from: &origin)
            try checkReply(reply, number: index + 1)
            replies.append(reply)
            if step.pauseAfter == true { cache.wait(.seconds(3)) }
        }
        for (index, reply) in replies.enumerated() {
            try checkSightings(number: index + 1, reply: reply)
        }
    }

    /// What the client sees of a step.
    private func checkReply(_ reply: Reply, number: Int) throws(Failure) {
        let step = test.requests[number - 1]
        let count = reply.fields["server-request-count"].first.flatMap { Int($0) }
        switch step.expectedType {
        case .cached: try check("expected_type", number, count.map { $0 < number } ?? false, "not from the cache")
        case .notCached: try check("expected_type", number, count == number, "from the cache")
        default: break
        }
        if let status = step.expectedStatus {
            try check("expected_status", number, status == nil || reply.status == status, "status \(reply.status)")
        } else {
            try check(nil, number, reply.status == step.responseStatus?.code ?? 200, "status \(reply.status)")
        }
        let sent = reply.fields["server-now"].first.flatMap { Timestamp($0) } ?? cache.now
        for field in step.expectedFields ?? [] {
            try checkField(field, in: reply.fields, "expected_response_headers", number, sent: sent)
        }
        for name in step.expectedMissing ?? [] {
            try check("expected_response_headers_missing", number, reply.fields[name].isEmpty, "\(name) is there")
        }
        if step.checksBody != false, ![204, 304].contains(reply.status) {
            try check(nil, number, reply.body == step.responseBody ?? ScriptedOrigin.body, "another body")
        }
    }

    /// What the origin has seen of a step.
    private func checkSightings(number: Int, reply: Reply) throws(Failure) {
        let step = test.requests[number - 1]
        guard step.expectedType != .cached else { return }
        let sightings = origin.sightings.filter { $0.step == number }
        try check(nil, number, sightings.count <= 1, "asked \(sightings.count) times")
        let seen = sightings.first
        if step.expectedType != nil {
            try check("expected_type", number, seen != nil, "no request came to the origin")
        }
        guard let seen else { return }
        if let field = step.expectedType?.requestField {
            try check("expected_type", number, !seen.fields[field].isEmpty, "no \(field) in the request")
        }
        for field in step.expectedRequestFields ?? [] {
            try checkField(field, in: seen.fields, "expected_request_headers", number, sent: cache.now)
        }
        for line in seen.compared.lines {
            let (received, sent) = (reply.fields.joined(line.name), seen.compared.joined(line.name))
            try check(nil, number, received == sent, "\(line.name) is \(received ?? "missing"), not \(sent ?? "")")
        }
    }

    private func checkField(
        _ field: CacheTestCase.ExpectedField, in fields: HTTPFields, _ key: String, _ number: Int, sent: Timestamp
    ) throws(Failure) {
        switch field {
        case .present(let name):
            try check(key, number, !fields[name.lowercased()].isEmpty, "no \(name)")
        case .equal(let name, let value):
            let (found, wanted) = (fields.joined(name.lowercased()), value.text(now: sent))
            try check(key, number, found == wanted, "\(name) is \(found ?? "missing"), not \(wanted)")
        case .greater(let name, let least):
            let found = fields[name.lowercased()].first
            try check(key, number, found.flatMap { Int($0) } ?? .min > least, "\(name) is \(found ?? "missing")")
        }
    }

    /// Fails the test if the condition does not hold.
    ///
    /// - Parameters:
    ///   - key: The part of the step that asks for it; `nil` for what any step needs before its question counts.
    ///   - number: The step, counted from 1.
    ///   - condition: What must hold.
    ///   - message: What is the case if it does not.
    /// - Throws: ``Failure`` if it does not.
    private func check(
        _ key: String?, _ number: Int, _ condition: Bool, _ message: @autoclosure () -> String
    ) throws(Failure) {
        guard !condition else { return }
        let step = test.requests[number - 1]
        let isSetup = step.setup == true || key.map { step.setupTests?.contains($0) ?? false } ?? true
        throw Failure(step: number, isSetup: isSetup, message: message())
    }
}
