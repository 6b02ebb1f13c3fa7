// SPDX-License-Identifier: Apache-2.0
import Logging
import Reports
import SyncPlan

/// Does work that nothing waits for, one piece after the other.
struct BackgroundWork: Sendable {
    enum Piece: Sendable {
        case task(Reconciler.BackgroundTask)
        /// Called when all earlier pieces are done.
        case reached(@Sendable () -> Void)
    }

    let effects: any AgentEffects
    let logger: Logger
    let noteMemoryLost: @Sendable (StateLoss) -> Void
    /// Called with the reason why nothing can be stored, and with `nil` when storing works again.
    let noteTrouble: @Sendable (String?) -> Void

    func run(_ queue: AsyncStream<Piece>) async {
        var unstored = MemoChanges()
        var isFailing = false
        for await work in queue {
            switch work {
            case .reached(let tell): tell()
            case .task(.discard(let names)): await effects.discard(names)
            case .task(.discardPartials(let urls)): await effects.discardPartials(of: urls)
            case .task(.remember(let changes)):
                unstored.append(changes)
                await store(&unstored, &isFailing)
            }
        }
    }

    /// Stores changes, together with those that failed to be stored before, for example on a full disk.
    private func store(_ unstored: inout MemoChanges, _ isFailing: inout Bool) async {
        let result = await effects.store(unstored)
        if case .failed(let reason) = result {
            noteTrouble(reason)
            if !isFailing { logger.warning("cannot store the state: retrying", metadata: ["reason": "\(reason)"]) }
            isFailing = true
            return
        }
        unstored = MemoChanges()
        if case .storedInNewDatabase(let loss) = result { noteMemoryLost(loss) }
        guard isFailing else { return }
        isFailing = false
        noteTrouble(nil)
        logger.notice("state stored again")
    }
}
