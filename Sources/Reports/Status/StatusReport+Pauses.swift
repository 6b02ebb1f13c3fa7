// SPDX-License-Identifier: Apache-2.0

extension StatusReport.Downloads {
    /// What is known of pauses: `metered, until 2026-11-26T18:00:00Z; backup`; `nil` if nothing is.
    package static func text(of pauses: [Pause]) -> String? {
        let texts = pauses.compactMap { pause in
            let parts = [pause.reason, pause.until.map { "until \($0)" }].compactMap(\.self)
            return parts.isEmpty ? nil : parts.joined(separator: ", ")
        }
        return texts.isEmpty ? nil : texts.joined(separator: "; ")
    }
}
