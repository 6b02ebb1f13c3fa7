// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

/// Expects that reading a document fails because it is damaged.
func expectDamaged<Document>(
    sourceLocation: SourceLocation = #_sourceLocation, _ read: () throws -> Document
) {
    let error = #expect(throws: FormatError.self, sourceLocation: sourceLocation) { _ = try read() }
    if case .damaged = error { return }
    Issue.record("\(String(describing: error))", sourceLocation: sourceLocation)
}
