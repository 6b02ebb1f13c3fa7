// SPDX-License-Identifier: Apache-2.0
import Testing

/// Takes as many elements as are expected, and compares them.
func expect<I: AsyncIteratorProtocol>(
    _ elements: inout I, _ expected: [I.Element], sourceLocation: SourceLocation = #_sourceLocation
) async throws where I.Element: Equatable {
    var told: [I.Element] = []
    while told.count < expected.count, let element = try await elements.next() { told.append(element) }
    #expect(told == expected, sourceLocation: sourceLocation)
}
