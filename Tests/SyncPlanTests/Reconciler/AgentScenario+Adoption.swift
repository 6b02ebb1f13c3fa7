// SPDX-License-Identifier: Apache-2.0
import SyncPlan

extension AgentScenario {
    /// Lets a look find out that there is another folder, and what is in it.
    mutating func adopt(_ other: SimulatedDisk) throws {
        answersInspections = false
        try scan()
        var found = CacheInspection()
        found.isSuspicious = true
        try finishInspection(found)
        answersInspections = true
        try finishInspection(adopting: other)
    }
}
