// SPDX-License-Identifier: Apache-2.0
import CacheFormat

extension SettingKey {
    package static func named(_ name: String) -> SettingKey? { all.first { $0.name == name } }

    /// The tables of the configuration file, in order.
    package static let tables: [String] = {
        var tables: [String] = []
        for key in all where tables.last != key.table { tables.append(key.table) }
        return tables
    }()

    /// The setting whose variable has the nearest spelling; `nil` if none is near.
    package static func nearest(toVariable variable: String) -> SettingKey? {
        let whole = EditDistance.nearest(to: variable, in: all, by: \.variable)
        // The variable may be a truncated name: FECH_MAX is nearer to FETCH_MAX_BYTES than to FETCH_PROXY.
        let prefix = "SYNCAGENT_"
        guard variable.starts(withBytes: prefix), variable.utf8.count <= 64 else { return whole }
        let stem = String(variable.dropFirst(prefix.count))
        func beginning(_ key: SettingKey) -> String {
            String(key.variable.dropFirst(prefix.count).prefix(stem.count + 1))
        }
        guard let part = EditDistance.nearest(to: stem, in: all, by: beginning) else { return whole }
        guard let whole else { return part }
        let isWhole =
            EditDistance.between(variable, whole.variable) <= EditDistance.between(stem, beginning(part)) + 1
        return isWhole ? whole : part
    }

    /// The setting that a wrong name most likely means.
    ///
    /// A setting with the same key in another table comes first, then the one with the nearest spelling; `nil` if none
    /// is near.
    package static func nearest(to name: String) -> SettingKey? {
        guard name.utf8.count <= 64 else { return nil }
        let key = (name.split(separator: ".").last ?? "").asciiLowercased
        let namesakes = all.filter { $0.key.asciiLowercased == key }
        if namesakes.count == 1 { return namesakes[0] }
        return EditDistance.nearest(to: name, in: namesakes.isEmpty ? all : namesakes, by: \.name) ?? namesakes.first
    }

    /// The table with the nearest spelling; `nil` if none is near.
    package static func nearestTable(to name: String) -> String? {
        EditDistance.nearest(to: name, in: tables, by: \.self)
    }
}
