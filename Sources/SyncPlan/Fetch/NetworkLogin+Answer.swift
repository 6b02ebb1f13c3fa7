// SPDX-License-Identifier: Apache-2.0
import HTTPRules

extension NetworkLogin.Answer {
    /// Classifies the outcome of a download: a possible login page, a genuine answer, or neither.
    init(_ outcome: FetchOutcome) {
        switch outcome {
        case .image, .notModified: self = .genuine
        case .noRoom, .cancelled: self = .none
        case .failed(let failure):
            let signs = Self.signs(of: failure)
            if !signs.isEmpty {
                self = .page(signs)
            } else {
                self = failure.blame == .resource && !failure.code.mayBeLogin ? .genuine : .none
            }
        }
    }

    private static func signs(of failure: FetchFailure) -> Set<NetworkLogin.Sign> {
        var signs: Set<NetworkLogin.Sign> = []
        if let body = failure.page?.body { signs.insert(.page(body)) }
        if let origin = failure.page?.origin { signs.insert(.redirect(origin: origin)) }
        if let address = failure.page?.address { signs.insert(.address(address)) }
        if failure.code == .http(511) { signs.insert(.status) }
        // Some login hosts refuse programs that are not browsers.
        if let origin = failure.origin, failure.blame == .resource { signs.insert(.redirect(origin: origin)) }
        return signs
    }
}
