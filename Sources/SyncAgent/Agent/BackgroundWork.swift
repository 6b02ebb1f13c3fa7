// SPDX-License-Identifier: Apache-2.0
import Logging
import Reports
import SyncPlan

/// Does work that nothing waits for, one piece after the other.
struct BackgroundWork: Sendable {
    enum Piece: Sendable {
        case task(Reconciler.BackgroundTask)
        /// Reached when all earlier pieces are done.
        case reached(Milestone)
    }

    let effects: any AgentEffects
    let logger: Logger
    let onMemoryLost: @Sendable (StateLoss) -> Void
    /// Called with the reason why nothing can be stored, and with `nil` when storing works again.
    let onTrouble: @Sendable (String?) -> Void

    func run(_ queue: AsyncStream<Piece>) async {
        var unstored = MemoChanges()
        var isFailing = false
        for await work in queue {
            switch work {
            case .reached(let milestone): milestone.reach()
            case .task(.discard(let names)): await effects.discard(names)
            case .task(.discardPartials(let urls)): await effects.discardPartials(of: urls)
            case .task(.remember(let changes)):
                // To merge them, the keys of all are looked up.
                if isFailing { unstored.append(changes) } else { unstored = changes }
                await store(&unstored, &isFailing)
            }
        }
    }

    /// Stores changes, together with those that failed to be stored before, for example on a full disk.
    private func store(_ unstored: inout MemoChanges, _ isFailing: inout Bool) async {
        let result = await effects.store(unstored)
        if case .failed(let reason) = result {
            onTrouble(reason)
            if !isFailing { logger.warning("cannot store the state: retrying", metadata: ["reason": "\(reason)"]) }
            isFailing = true
            return
        }
        unstored = MemoChanges()
        if case .storedInNewDatabase(let loss) = result { onMemoryLost(loss) }
        guard isFailing else { return }
        isFailing = false
        onTrouble(nil)
        logger.notice("state stored again")
    }
}
