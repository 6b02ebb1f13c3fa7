// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Checks that the essential parts of the agent respond.
final class PartProbes: Sendable {
    private let probes: [String: Probe]
    private let recorded = Mutex<String?>(nil)

    init(loop: AgentLoop, lists: ListService, publisher: Publisher) {
        probes = ["loop": Probe(loop.probe), "watcher": Probe(lists.probe), "publisher": Probe(publisher.probe)]
    }

    /// The parts that have not answered yet, sorted.
    var silent: [String] { probes.filter { !$0.value.isAnswered }.keys.sorted() }

    /// The last recorded trouble, as a clause; `nil` if all parts respond.
    var trouble: String? { recorded.withLock(\.self) }

    /// Records that parts have been silent for too long; `nil` if all respond.
    func recordTrouble(_ trouble: String?) { recorded.withLock { $0 = trouble } }

    func ask() { for probe in probes.values { probe.ask() } }

    func waitForAnswers() async { for probe in probes.values { await probe.waitForAnswer() } }
}
