// SPDX-License-Identifier: Apache-2.0
package import AppLists

/// The URLs that a download passes through (RFC 9110, section 15.4), and their limits.
package struct RedirectChain: Sendable {
    /// The statuses that redirect a GET request.
    package static let statuses: Set<Int> = [301, 302, 303, 307, 308]

    package private(set) var target: FetchTarget
    /// The targets before the present one, few enough to be compared one by one.
    private var visited: [FetchTarget] = []
    private let limit: Int
    private let allowDowngrade: Bool
    private let policy: NetworkRules

    /// Starts with the URL that a list names.
    ///
    /// - Throws: A ``FetchFailure`` with the code `host-refused`.
    package init(
        from target: FetchTarget, limit: Int, allowDowngrade: Bool, policy: NetworkRules
    ) throws(FetchFailure) {
        try policy.validate(target)
        self.target = target
        self.limit = limit
        self.allowDowngrade = allowDowngrade
        self.policy = policy
    }

    /// Follows a redirect.
    ///
    /// - Throws: A ``FetchFailure`` with one of the codes `bad-redirect`, `redirect-loop`, `too-many-redirects`,
    ///   `downgrade-refused`, or of those of ``FetchTarget``.
    package mutating func follow(_ location: String?) throws(FetchFailure) {
        guard let location else {
            throw FetchFailure(.badRedirect, "the server redirects without a Location header")
        }
        guard visited.count < limit else {
            throw FetchFailure(.tooManyRedirects, "the server redirects more than \(limit) times (fetch.maxRedirects)")
        }
        let next = try redirected(to: location)
        guard next.isSecure || !target.isSecure || allowDowngrade else {
            throw FetchFailure(
                .downgradeRefused, "the server redirects from https to http, which fetch.allowDowngrade would allow")
        }
        guard next != target, !visited.contains(next) else {
            throw FetchFailure(.redirectLoop, "the server redirects in a loop")
        }
        visited.append(target)
        target = next
    }

    private func redirected(to location: String) throws(FetchFailure) -> FetchTarget {
        let next: FetchTarget?
        do {
            next = try target.resolving(location)
        } catch {
            throw FetchFailure(error).inRedirect
        }
        guard let next else {
            throw FetchFailure(.badRedirect, "the server redirects to an invalid URL")
        }
        do {
            try policy.validate(next)
        } catch {
            throw error.inRedirect
        }
        return next
    }
}
