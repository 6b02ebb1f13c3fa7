// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Fleet
import HTTPRules
import Reports

/// The lasting conditions as last reported, so that events report only changes.
struct ToldConditions: Equatable, Sendable {
    enum Eviction: Equatable, Sendable {
        case active, suspended
        case held(Timestamp)
    }

    var eviction = Eviction.active
    var failure: String?
    var isBlocked = false
    /// The states of the sources that were read, or failed.
    var sources = IconSources.States()
}

extension Reconciler {
    var conditions: ToldConditions {
        let eviction: ToldConditions.Eviction =
            if lastingDoubt != nil {
                .suspended
            } else if evictionDoubt != nil {
                // New lists are being read: report nothing until they are.
                told.eviction
            } else if let hold = retention.brake.heldNow {
                .held(hold.since)
            } else {
                .active
            }
        return ToldConditions(
            eviction: eviction, failure: publishing.failure, isBlocked: space.waitsFor != nil,
            sources: sources.knownStates(at: lastTime))
    }

    mutating func noteConditions() {
        let now = conditions
        guard now != told else { return }
        if now.failure != told.failure, let reason = now.failure {
            events.append(.publicationFailed(reason: reason, isInDoubt: publishing.isInDoubt))
        }
        if now.isBlocked != told.isBlocked {
            events.append(
                space.waitsFor.map { .downloadsBlocked($0.code, reason: $0.reason) } ?? .downloadsUnblocked)
        }
        if now.eviction != told.eviction {
            let reason = evictionStatus.reason ?? ""
            switch now.eviction {
            case .active: events.append(.evictionActive)
            case .suspended: events.append(.evictionSuspended(reason: reason))
            case .held: events.append(.evictionHeld(reason: reason))
            }
        }
        if now.sources != told.sources {
            events += sources.changes(since: told.sources, at: lastTime).map(AgentEvent.upstreamChanged)
        }
        told = now
    }
}
