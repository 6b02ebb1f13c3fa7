// SPDX-License-Identifier: Apache-2.0

extension StatusReport.Downloads {
    /// The ``reason``, if it is a lack of space or of resources, not a publication that fails.
    package var shortage: String? { code == StatusProblem.Code.publicationFailed.rawValue ? nil : reason }

    /// The reasons and ends of pauses: `metered, until 2026-11-26T18:00:00Z; backup`; `nil` if no pause has either.
    package static func text(of pauses: [Pause]) -> String? {
        let texts = pauses.compactMap { pause in
            let parts = [pause.reason, pause.until.map { "until \($0)" }].compactMap(\.self)
            return parts.isEmpty ? nil : parts.joined(separator: ", ")
        }
        return texts.isEmpty ? nil : texts.joined(separator: "; ")
    }
}
