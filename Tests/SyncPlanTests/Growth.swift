// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

/// The time of the processor that work takes, however busy the machine is.
func processorTime(of work: () throws -> Void) rethrows -> Duration {
    func now() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
    let start = now()
    try work()
    return now() - start
}

/// Expects eight times as many pieces of work to take less than 32 times as long.
///
/// Where each piece costs the same they take about 8 times as long, and about 64 times where each costs as much as there
/// are pieces. Both are measured in turn, up to three times if something disturbs them, and the least times count.
///
/// - Parameters:
///   - count: The number of pieces to begin with.
///   - sourceLocation: Where the expectation stands.
///   - work: Does so many pieces.
/// - Throws: What the work throws.
func expectLinearTime(
    from count: Int, sourceLocation: SourceLocation = #_sourceLocation, _ work: (Int) throws -> Void
) rethrows {
    var (few, many) = (Duration.seconds(1 << 20), Duration.seconds(1 << 20))
    for _ in 0..<3 where many >= few * 32 {
        // The first time would also be that of memory which is used for the first time.
        for _ in 0..<2 { few = min(few, try processorTime { try work(count) }) }
        many = min(many, try processorTime { try work(8 * count) })
    }
    #expect(
        many < few * 32, "\(few) for \(count), and \(many) for eight times as many", sourceLocation: sourceLocation)
}
