// SPDX-License-Identifier: Apache-2.0

/// A number with its noun: `1 icon`, `2 icons`.
///
/// - Parameters:
///   - number: How many there are.
///   - noun: The noun in the singular; its plural ends in “s”.
/// - Returns: The two as one text.
package func counted(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
