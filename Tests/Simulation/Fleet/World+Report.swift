// SPDX-License-Identifier: Apache-2.0
import Reports
import SyncPlan

extension World {
    /// The figures as a line of JSON.
    var report: String {
        let fields: [(String, String)] = [
            ("title", "\"\(run.scenario.title)\""),
            ("seconds", "\((run.scenario.before + run.scenario.end).components.seconds)"),
            ("originMax", "\(figures.origins.max() ?? 0)"),
            ("originMean", number(Double(figures.origins.reduce(0, +)) / Double(figures.origins.count))),
            ("originPeak1", number(figures.originRequests.peak(over: 1))),
            ("originPeak60", number(figures.originRequests.peak(over: 60))),
            ("edgePeak1", number(figures.requests.peak(over: 1))),
            ("edgePeak60", number(figures.requests.peak(over: 60))),
            ("edgeMean", number(figures.requests.mean)),
            ("serverPeak1", number(server.requests.peak(over: 1))),
            ("serverPeak60", number(server.requests.peak(over: 60))),
            ("serverMean", number(server.requests.mean)),
            ("serverTotal", "\(server.requests.total)"),
            ("polls", "\(figures.polls)"),
            ("bypasses", "\(figures.bypasses)"),
            ("half", time(0.5)), ("most", time(0.99)), ("all", time(1)),
            ("longestWait", "\(figures.longestWait.components.seconds)"),
            ("curve", "\(figures.curve)"),
            ("missing", "\(figures.missing)"),
            ("notReady", "\(machines.count { $0.plan.status.icons.ready != icons.count })"),
        ]
        return "{" + fields.map { "\"\($0)\": \($1)" }.joined(separator: ", ") + "}"
    }

    private func number(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }

    private func time(_ share: Double) -> String { figures.arrival(share).map { "\($0.rounded())" } ?? "null" }
}
