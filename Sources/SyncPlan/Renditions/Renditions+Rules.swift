// SPDX-License-Identifier: Apache-2.0

extension Renditions {
    /// What renditions follow from besides their originals and sizes; renditions by other rules are made anew.
    struct Rules: Codable, Equatable, Sendable {
        /// `nil` if no renderer was ever asked.
        var version: Int?
        /// How many programs read images: what none of them read may be read by another one.
        var programs: Int
        var fit: String
        var enlarges: Bool

        /// The rules to remember while some documents follow these rules, and some may follow the others.
        ///
        /// If the others draw something else, no rules are equal to the result.
        func mixed(with others: Rules) -> Rules {
            guard (fit, enlarges) == (others.fit, others.enlarges) else { return mixed }
            // Before the version of the renderer was known, nothing was rendered.
            if version == nil { return others }
            return version == others.version ? self : mixed
        }

        private var mixed: Rules { Rules(version: nil, programs: programs, fit: "mixed", enlarges: false) }
    }
}
