// SPDX-License-Identifier: Apache-2.0

/// How many elements each collection inside a value has, whatever it is called: what only grows shows up here.
struct Census {
    /// By the path to the collections; those inside elements of others are counted together.
    private(set) var counts: [String: Int] = [:]

    init(of value: Any) {
        count(value, at: "")
    }

    private mutating func count(_ value: Any, at path: String) {
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .collection, .set, .dictionary:
            counts[path, default: 0] += mirror.children.count
            for child in mirror.children.prefix(2000) { count(child.value, at: path + "[]") }
        default:
            for child in mirror.children {
                let label = child.label.map { path.isEmpty ? $0 : "\(path).\($0)" } ?? path
                count(child.value, at: label)
            }
        }
    }
}
