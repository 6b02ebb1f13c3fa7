// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Asks the parts of the agent for a sign of life: a part that is idle answers at once, one that hangs does not.
final class PartProbes: Sendable {
    /// What asks one part, and returns with its answer.
    typealias Probe = @Sendable () async -> Void

    private let probes: [String: Probe]
    private let unanswered = Mutex<Set<String>>([])
    private let answers = ChangeFeed()
    private let noted = Mutex<String?>(nil)

    /// - Parameter probes: What asks each part, by the part's name.
    init(_ probes: [String: Probe]) {
        self.probes = probes
    }

    /// The parts that have not answered since they were asked, sorted.
    var silent: [String] { unanswered.withLock { $0.sorted() } }

    /// What has been noted last, as a clause; `nil` if all is well.
    var trouble: String? { noted.withLock(\.self) }

    /// Notes that parts have been silent for too long; `nil` if none has.
    func noteTrouble(_ trouble: String?) { noted.withLock { $0 = trouble } }

    /// Asks each part that does not owe an answer.
    func ask() {
        for (part, probe) in probes where unanswered.withLock({ $0.insert(part).inserted }) {
            Task { [self] in
                await probe()
                unanswered.withLock { _ = $0.remove(part) }
                answers.note()
            }
        }
    }

    /// Returns when each part has answered, or when the task is cancelled.
    func answered() async {
        for await _ in answers.changes where silent.isEmpty { return }
    }
}

extension PartProbes {
    /// Asks the three parts without which nothing goes on.
    convenience init(loop: AgentLoop, lists: ListService, publisher: Publisher) {
        self.init([
            "loop": { _ = await loop.ask { _ in } },
            "watcher": { await lists.respond() },
            "publisher": { await publisher.respond() },
        ])
    }
}
