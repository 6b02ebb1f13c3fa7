// SPDX-License-Identifier: Apache-2.0

package enum EditDistance {
    /// Levenshtein distance in bytes.
    ///
    /// - Complexity: O(*n* · *m*).
    package static func between(_ a: String, _ b: String) -> Int {
        let (a, b) = (Array(a.utf8), Array(b.utf8))
        var row = Array(0...b.count)
        for i in a.indices {
            var diagonal = row[0]
            row[0] = i + 1
            for j in b.indices {
                let replaced = diagonal + (a[i] == b[j] ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, row[j] + 1, diagonal + 1)
            }
        }
        return row[b.count]
    }

    /// The element with the nearest spelling; `nil` if more than a third of the text differs.
    package static func nearest<Element>(
        to text: String, in elements: [Element], by spelling: (Element) -> String
    ) -> Element? {
        guard text.utf8.count <= 64 else { return nil }
        let distances = elements.map { ($0, between(text, spelling($0))) }
        return distances.min { $0.1 < $1.1 }.flatMap { $0.1 * 3 <= text.utf8.count ? $0.0 : nil }
    }
}
