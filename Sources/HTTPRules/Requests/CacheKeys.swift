// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat

/// The query parameters that do not distinguish images (`[[keys]]`): URLs that differ only in them are one icon.
package struct CacheKeys: Equatable, Sendable {
    package struct Rule: Equatable, Sendable {
        package var host: HostPattern
        /// The names of the parameters, encoded as in URLs; `X-Amz-*` matches all names with this prefix.
        package var ignored: [String]

        package init(host: HostPattern, ignored: [String]) {
            (self.host, self.ignored) = (host, ignored)
        }

        fileprivate func ignores(_ name: some StringProtocol) -> Bool {
            ignored.contains { pattern in
                pattern.utf8.last == UInt8(ascii: "*")
                    ? name.utf8.starts(with: pattern.utf8.dropLast()) : name.utf8.elementsEqual(pattern.utf8)
            }
        }
    }

    package var rules: [Rule]

    package init(_ rules: [Rule] = []) {
        self.rules = rules
    }

    package var isEmpty: Bool { rules.isEmpty }

    /// The key of a URL, which is the URL without ignored parameters; `nil` if no rule is for its host.
    package func key(of url: IconURL) -> IconURL? {
        guard !isEmpty, let target = try? FetchTarget(url.text) else { return nil }
        return key(of: target)
    }

    package func key(of target: FetchTarget) -> IconURL? {
        let rules = rules.filter { $0.host.matches(target.host) }
        guard !rules.isEmpty else { return nil }
        let (path, query) = target.pathAndQuery
        let base = target.origin + path
        guard let query else { return IconURL(base) }
        let kept = query.split(atByte: "&", omittingEmpty: false).filter { pair in
            let name = pair.split(atByte: "=", omittingEmpty: false).first ?? ""
            return !rules.contains { $0.ignores(name) }
        }
        return IconURL(kept.isEmpty ? base : "\(base)?\(kept.joined(separator: "&"))")
    }

    /// Whether two URLs, as they are sent, are one icon: the same, byte for byte, or with a difference that a rule
    /// ignores.
    func areSame(_ url: String, _ target: FetchTarget) -> Bool {
        if target.isSent(as: url) { return true }
        guard !isEmpty, let key = key(of: target) else { return false }
        return self.key(of: IconURL(url)) == key
    }
}
