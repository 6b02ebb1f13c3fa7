// SPDX-License-Identifier: Apache-2.0
import Logging
import SyncPlan

/// Does the work that nothing waits for, one piece after the other.
struct BackgroundWork: Sendable {
    let effects: any AgentEffects
    let logger: Logger
    /// Called when what was stored before is lost.
    let noteMemoryLost: @Sendable () -> Void
    /// Called with the reason why nothing can be stored, and with `nil` when it can again.
    let noteTrouble: @Sendable (String?) -> Void

    /// Works until the queue has ended and is empty.
    func run(_ queue: AsyncStream<Reconciler.BackgroundTask>) async {
        var unstored = MemoChanges()
        for await work in queue {
            switch work {
            case .discard(let names): await effects.discard(names)
            case .discardPartials(let urls): await effects.discardPartials(of: urls)
            case .remember(let changes): await store(changes, after: &unstored)
            }
        }
    }

    /// Stores changes, together with those that could not be stored before, for example on a full disk.
    private func store(_ changes: MemoChanges, after unstored: inout MemoChanges) async {
        let isFirst = unstored.isEmpty
        unstored.append(changes)
        let result = await effects.store(unstored)
        if case .failed(let reason) = result {
            noteTrouble(reason)
            if isFirst { logger.warning("cannot store the state: retrying", metadata: ["reason": "\(reason)"]) }
            return
        }
        unstored = MemoChanges()
        if result == .storedInNewDatabase { noteMemoryLost() }
        guard !isFirst else { return }
        noteTrouble(nil)
        logger.notice("state stored again")
    }
}
