// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

extension StatusReport {
    package var json: JSON { json(for: CommandContext()) }

    package func json(for context: CommandContext) -> JSON {
        var report = self
        // An agent of an older version mutes nothing; without an agent, its state may be unreadable.
        if reachable { report.muted = muted ?? 0 }
        report.lists = rows
        let derived: [(key: String, value: JSON)] = [
            ("verdict", JSON(verdict(for: context))), ("problems", .lines(JSON(problems(for: context)))),
        ]
        let lines: Set = ["lists", "failures", "refreshFailures", "upstreams"]
        guard case .object(var members) = JSON.document(report, lines: lines) else { return .null }
        let place = members.firstIndex { $0.key == "refreshFailures" } ?? members.endIndex
        members.insert(contentsOf: derived, at: place)
        return .object(members)
    }

    package var listsJSON: JSON { .lines(.array(rows.map { JSON($0) })) }

    /// The lists, each with whether it is muted, unless that is unknown.
    private var rows: [List] { reachable || muted != nil ? lists.map(\.whole) : lists }
}

extension StatusReport.List {
    package var json: JSON { JSON(whole) }

    /// The list's row with defaults for what an agent does not report.
    fileprivate var whole: Self {
        var list = self
        list.muted = muted ?? false
        return list
    }
}
