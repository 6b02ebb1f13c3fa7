// SPDX-License-Identifier: Apache-2.0

extension Renditions {
    /// The rendering parameters besides size; renditions made with other parameters are made again.
    struct Rules: Codable, Equatable, Sendable {
        /// The version of the renderer; `nil` if none was ever asked.
        var version: Int?
        /// The number of renderer programs: another one may support formats that these do not.
        var programs: Int
        var fit: String
        var enlarges: Bool

        /// The rules to remember while some documents follow these rules, and some may follow the others.
        ///
        /// If the two make different renditions, the result equals no rules.
        func mixed(with others: Rules) -> Rules {
            guard (fit, enlarges) == (others.fit, others.enlarges) else { return mixed }
            // Before the version of the renderer was known, nothing was rendered.
            if version == nil { return others }
            return version == others.version ? self : mixed
        }

        private var mixed: Rules { Rules(version: nil, programs: programs, fit: "mixed", enlarges: false) }
    }
}
