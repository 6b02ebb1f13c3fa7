// SPDX-License-Identifier: Apache-2.0

/// One answer, shared by all clients that ask at the same time.
///
/// An answer is always begun after it was requested, so clients see their own changes. Requests that arrive while an
/// answer is made wait for the next one; at most one is made at any time.
actor SharedAnswer<Answer: Sendable> {
    private static var pace: Duration { .milliseconds(10) }

    private let make: @concurrent @Sendable () async -> Answer
    private var current: Task<Answer, Never>?
    private var next: Task<Answer, Never>?
    private var begun: ContinuousClock.Instant?

    init(_ make: @escaping @concurrent @Sendable () async -> Answer) { self.make = make }

    func get() async -> Answer {
        if let next { return await next.value }
        // A task of its own: the first caller's may be cancelled while others wait.
        let task = Task { [before = current] in
            _ = await before?.value
            if let begun { try? await Task.sleep(until: begun + Self.pace, clock: .continuous) }
            (current, next, begun) = (next, nil, .now)
            defer { current = nil }
            return await make()
        }
        next = task
        return await task.value
    }
}
