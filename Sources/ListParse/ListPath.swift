// SPDX-License-Identifier: Apache-2.0

/// How a place in a property list is named: `[3].icon`, `apps[3]`, `["Nine Lives"]`.
enum ListPath {
    /// The longest text of a file's own that is shown, in characters.
    private static let maxLength = 100

    /// A key at the top: as it is if it looks like a name, in brackets and quotes otherwise.
    static func key(_ key: String) -> String {
        let isName = !key.isEmpty && key.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-".contains($0)) }
        return isName ? printable(key) : "[\"\(printable(key))\"]"
    }

    /// The text on one line and of bounded length, without control characters.
    static func printable(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars.prefix(maxLength) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: result += "�"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return text.unicodeScalars.count > maxLength ? result + "…" : result
    }
}
