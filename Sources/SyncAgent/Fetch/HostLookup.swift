// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization
import Transfers

/// A call of the system's resolver, whose answer any number of tasks wait for.
///
/// The call cannot be cancelled and may take long, so it has a thread of its own; only the waiting ends early.
final class HostLookup: Sendable {
    private let found = Mutex<SystemResolver.Answer?>(nil)
    private let end = Milestone()

    init(_ host: String, _ family: SystemResolver.Family = .any) {
        DispatchQueue(label: "syncagent.resolver").async { [self] in
            let answer = SystemResolver.lookUp(host, family)
            found.withLock { $0 = answer }
            end.reach()
        }
    }

    /// `nil` until there is one.
    var answer: SystemResolver.Answer? { found.withLock(\.self) }

    /// Waits for the answer; throws `CancellationError` if the task is cancelled first.
    func wait() async throws -> SystemResolver.Answer {
        await end.wait()
        guard let answer else { throw CancellationError() }
        return answer
    }
}
