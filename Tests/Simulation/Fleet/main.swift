// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import Fleet
import Glibc
import SyncPlan

// Runs a fleet in virtual time, and prints what came of it as a line of JSON: `Simulation SCENARIO MACHINES FALLBACK`.
// `Tests/Simulation/run` does it for all scenarios.

private let arguments = CommandLine.arguments.dropFirst().map(\.self)
guard arguments.count == 3, let scenario = Scenario.all.first(where: { $0.name == arguments[0] }),
    let machines = Int(arguments[1]), machines > 0,
    let fallback = Settings.Upstream.Fallback(rawValue: arguments[2])
else {
    print("usage: Simulation SCENARIO MACHINES origin|never, with SCENARIO one of \(Scenario.all.map(\.name))")
    exit(2)
}
var world = try World(Run(scenario: scenario, machines: machines, fallback: fallback))
world.pass()
print(world.report)
