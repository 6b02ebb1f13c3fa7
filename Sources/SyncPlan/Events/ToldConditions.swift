// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Fleet
import HTTPRules
import Reports

/// The lasting conditions that events reported last: only changes are reported.
struct ToldConditions: Equatable, Sendable {
    enum Eviction: Equatable, Sendable {
        case active, suspended
        case held(Timestamp)
    }

    var eviction = Eviction.active
    var failure: String?
    var isBlocked = false
    var isRenderingBlocked = false
    /// The states of the sources that were read, or failed.
    var sources = IconSources.States()
}

extension Reconciler {
    var conditions: ToldConditions {
        let eviction: ToldConditions.Eviction =
            if lastingDoubt != nil {
                .suspended
            } else if evictionDoubt != nil {
                // While new lists are being read, eviction is suspended for a moment; that is not reported.
                told.eviction
            } else if let hold = book.retention.brake.heldNow {
                .held(hold.since)
            } else {
                .active
            }
        return ToldConditions(
            eviction: eviction, failure: book.publishing.failure, isBlocked: book.space.waitsFor != nil,
            isRenderingBlocked: renderingTrouble != nil,
            sources: book.sources.knownStates(at: turn.now))
    }

    /// The reason why nothing is rendered or renditions have no names, as a clause; `nil` if nothing is wrong.
    var renderingTrouble: String? { book.renditions.trouble ?? book.renditionNames.trouble }

    mutating func emitConditions() {
        let now = conditions
        guard now != told else { return }
        if now.failure != told.failure, let reason = now.failure {
            turn.emit(.publicationFailed(reason: reason, isInDoubt: book.publishing.isInDoubt))
        }
        if now.isBlocked != told.isBlocked {
            turn.emit(
                book.space.waitsFor.map { .downloadsBlocked($0.code, reason: $0.reason) } ?? .downloadsUnblocked)
        }
        if now.isRenderingBlocked != told.isRenderingBlocked {
            turn.emit(renderingTrouble.map { .renderingBlocked(reason: $0) } ?? .renderingUnblocked)
        }
        if now.eviction != told.eviction {
            let reason = evictionStatus.reason ?? ""
            switch now.eviction {
            case .active: turn.emit(.evictionActive)
            case .suspended: turn.emit(.evictionSuspended(reason: reason))
            case .held: turn.emit(.evictionHeld(reason: reason))
            }
        }
        if now.sources != told.sources {
            for change in book.sources.changes(since: told.sources, at: turn.now) {
                turn.emit(.upstreamChanged(change.0, change.1, reason: change.reason))
            }
            for (url, failure) in book.sources.undelivered(since: told.sources) {
                turn.emit(.upstreamUndelivered(url, failure))
            }
        }
        told = now
    }
}
