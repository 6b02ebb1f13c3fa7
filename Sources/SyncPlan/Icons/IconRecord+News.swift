// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import Reports

extension IconRecord {
    /// What to emit for an event that is about to happen to the icon with this URL; `nil` for nothing.
    func news(of event: IconEvent, at url: @autoclosure () -> IconURL, _ clock: WallClock) -> AgentEvent? {
        switch event {
        case .failed(var failure), .ended(.failed(var failure), _):
            guard isReferenced, self.failure?.code != failure.code else { return nil }
            failure.nextAttempt = failure.nextAttempt.map(clock.time)
            return hasImage ? .iconStale(url(), failure) : .iconFailed(url(), failure)
        case .confirmed, .ended(.confirmed, _): return isReferenced && hasFailed ? .iconFresh(url()) : nil
        case .published(let bytes, let generation?):
            // No list named it any more when its image was published.
            if !isReferenced { return .iconRetired(url()) }
            return hasImage
                ? .iconChanged(url(), bytes: bytes, generation: generation)
                : .iconReady(url(), bytes: bytes, generation: generation)
        default: return nil
        }
    }
}
