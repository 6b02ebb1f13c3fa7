// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import SyncPlan
import SystemPackage

/// How lists are read: the settings, and the parser that goes by them.
struct ListRules: Sendable {
    var settings: Settings.Lists
    private(set) var parser: ParseHelper

    init(_ settings: Settings.Lists, parseProgram: FilePath, metrics: AgentMetrics) {
        self.settings = settings
        parser = ParseHelper(executable: parseProgram, limits: ListLimits(settings), metrics: metrics)
    }
}
