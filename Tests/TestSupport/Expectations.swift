// SPDX-License-Identifier: Apache-2.0
package import Testing

/// Expects text to have these parts.
///
/// For each that is missing, the failure shows the line nearest to it, not the text.
///
/// - Parameters:
///   - text: What a program wrote, for example.
///   - parts: Each may be a part of a line, or several lines.
///   - sourceLocation: Where the expectation stands.
package func expectContains(
    _ text: String, _ parts: String..., sourceLocation: SourceLocation = #_sourceLocation
) {
    for part in parts where !text.contains(part) {
        let nearest = nearestLine(to: part, in: text)
        Issue.record(
            """
            missing: \(part)
            nearest: \(nearest ?? "no line has a word of it; there are \(lines(of: text).count) lines")
            """, sourceLocation: sourceLocation)
    }
}

/// Expects text to be other text, line by line.
///
/// A failure shows the lines that differ, each with its number.
///
/// - Parameters:
///   - text: The text that is there.
///   - expected: The text that should be there.
///   - advice: What to do about a difference.
///   - sourceLocation: Where the expectation stands.
package func expectLines(
    _ text: String, _ expected: String, _ advice: String = "", sourceLocation: SourceLocation = #_sourceLocation
) {
    guard text != expected else { return }
    let difference = lineDifference(from: expected, to: text).joined(separator: "\n")
    Issue.record("\(advice.isEmpty ? "" : advice + "\n")\(difference)", sourceLocation: sourceLocation)
}

/// The lines that are in one text alone: `-12: …` was expected and is missing, `+12: …` is there instead.
///
/// - Parameters:
///   - expected: The text that should be there.
///   - text: The text that is there.
/// - Returns: At most 40 lines, and one that counts the others.
package func lineDifference(from expected: String, to text: String) -> [String] {
    let changes = lines(of: text).difference(from: lines(of: expected))
    let removals = changes.removals.map { change in (offset: change.offset, isThere: false, line: change.element) }
    let insertions = changes.insertions.map { change in (offset: change.offset, isThere: true, line: change.element) }
    let shown = (removals + insertions)
        .sorted { ($0.offset, $0.isThere ? 1 : 0) < ($1.offset, $1.isThere ? 1 : 0) }
        .map { "\($0.isThere ? "+" : "-")\($0.offset + 1): \($0.line)" }
    return shown.count > 40 ? shown.prefix(40) + ["… and \(shown.count - 40) more lines"] : shown
}

/// The line that shares most words with a text; `nil` if none shares any.
private func nearestLine(to part: String, in text: String) -> String? {
    let words = Set(part.split { $0 == " " || $0 == "\n" })
    let counted = lines(of: text).map { line in
        (line: line, count: Set(line.split(separator: " ")).intersection(words).count)
    }
    return counted.max { $0.count < $1.count }.flatMap { $0.count > 0 ? String($0.line) : nil }
}

private func lines(of text: String) -> [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

private extension CollectionDifference.Change {
    var offset: Int {
        switch self {
        case .insert(let offset, _, _), .remove(let offset, _, _): offset
        }
    }

    var element: ChangeElement {
        switch self {
        case .insert(_, let element, _), .remove(_, let element, _): element
        }
    }
}
