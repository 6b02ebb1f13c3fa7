// SPDX-License-Identifier: Apache-2.0

/// A number with its noun: `1 icon`, `2 icons`, `1,204 icons`; the default plural adds an “s”.
package func counted(_ number: Int, _ noun: String, plural: String? = nil) -> String {
    "\(grouped(number)) \(number == 1 ? noun : plural ?? noun + "s")"
}

/// A number with its digits in groups of three: `1,204`.
package func grouped(_ number: Int) -> String {
    let digits = String(number.magnitude).utf8
    var text = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
        if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
        text.unicodeScalars.append(Unicode.Scalar(digit))
    }
    return text
}
