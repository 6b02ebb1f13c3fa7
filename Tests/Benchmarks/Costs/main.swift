// SPDX-License-Identifier: Apache-2.0
import Glibc

// Runs one scenario: `Costs NAME`. `Tests/Benchmarks/count` counts its instructions under callgrind.

// libdispatch otherwise writes to syslog for every worker thread of an unprivileged process.
setenv("LIBDISPATCH_LOG", "NO", 0)

private let name = CommandLine.arguments.dropFirst().first
guard let scenario = Scenario.all.first(where: { $0.name == name }) else {
    fatalError("the scenario is to be one of \(Scenario.all.map(\.name))")
}

// A small round first: metadata, lazy globals and the allocator's first pages belong to a process, not to the work.
do { _ = try scenario.prepare(scenario.size / 10)() }

Measured.work = try scenario.prepare(scenario.size)
measuredWork()
Measured.work = { 0 }
guard case .success(scenario.result) = Measured.result else {
    fatalError("\(scenario.name): \(String(describing: Measured.result)), and not \(scenario.result)")
}
