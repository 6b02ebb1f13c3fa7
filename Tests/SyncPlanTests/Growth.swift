// SPDX-License-Identifier: Apache-2.0
import Testing

/// Expects eight times as many pieces of work to take less than 24 times as long.
///
/// Where each piece costs the same they take about 8 times as long, and about 64 times where each costs as much as there
/// are pieces. Both are measured in turn, and the least time of three counts.
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
    for _ in 0..<3 {
        few = min(few, try ContinuousClock().measure { try work(count) })
        many = min(many, try ContinuousClock().measure { try work(8 * count) })
    }
    #expect(
        many < few * 24, "\(few) for \(count), and \(many) for eight times as many", sourceLocation: sourceLocation)
}
