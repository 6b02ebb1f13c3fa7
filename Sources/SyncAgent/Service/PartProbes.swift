// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Checks that the parts of the agent respond: an idle part answers at once, a hung one does not.
final class PartProbes: Sendable {
    /// Asks one part, and returns when it answers.
    typealias Probe = @Sendable () async -> Void

    private let probes: [String: Probe]
    private let unanswered = Mutex<Set<String>>([])
    private let answers = ChangeFeed()
    private let noted = Mutex<String?>(nil)

    init(_ probes: [String: Probe]) {
        self.probes = probes
    }

    /// The parts that have not answered yet, sorted.
    var silent: [String] { unanswered.withLock { $0.sorted() } }

    /// The last recorded trouble, as a clause; `nil` if all is well.
    var trouble: String? { noted.withLock(\.self) }

    /// Records that parts have been silent for too long; `nil` if none has.
    func noteTrouble(_ trouble: String?) { noted.withLock { $0 = trouble } }

    /// Asks each part that does not still owe an answer.
    func ask() {
        for (part, probe) in probes where unanswered.withLock({ $0.insert(part).inserted }) {
            Task { [self] in
                await probe()
                unanswered.withLock { _ = $0.remove(part) }
                answers.note()
            }
        }
    }

    func answered() async {
        for await _ in answers.changes where silent.isEmpty { return }
    }
}

extension PartProbes {
    /// Probes the three parts that the agent cannot work without.
    convenience init(loop: AgentLoop, lists: ListService, publisher: Publisher) {
        self.init([
            "loop": { _ = await loop.ask { _ in } },
            "watcher": { await lists.respond() },
            "publisher": { await publisher.respond() },
        ])
    }
}
