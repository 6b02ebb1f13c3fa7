// SPDX-License-Identifier: Apache-2.0

/// Runs the body for each of these, a few at a time, where each spends its time waiting.
///
/// - Throws: The first error of a body.
func concurrently<Element: Sendable>(
    _ elements: [Element], atMost limit: Int = 5, _ body: @escaping @Sendable (Element) async throws -> Void
) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for (index, element) in elements.enumerated() {
            if index >= limit { try await group.next() }
            group.addTask { try await body(element) }
        }
        try await group.waitForAll()
    }
}
