// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import SyncPlan
import SystemPackage

/// The settings for reading lists, and a parser that follows them.
struct ListRules: Sendable {
    var settings: Settings.Lists
    private(set) var parser: ParseHelper

    init(_ settings: Settings.Lists, parseProgram: FilePath, metrics: AgentMetrics) {
        self.settings = settings
        parser = ParseHelper(executable: parseProgram, limits: ListLimits(settings), metrics: metrics)
    }
}
