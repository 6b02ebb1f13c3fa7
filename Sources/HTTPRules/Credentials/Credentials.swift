// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat

/// The credentials of `auth.toml`, in order.
package struct Credentials: Equatable, Sendable {
    package var entries: [Credential]

    package init(_ entries: [Credential] = []) {
        self.entries = entries
    }

    package var isEmpty: Bool { entries.isEmpty }

    /// Whether icons behind some of the credentials must not be in a cache that everyone can read.
    package var hasPrivate: Bool { entries.contains { !$0.isPublic } }

    /// Stands for private origins that are not known; no credential is for it.
    package static let unknownOrigin = ""

    /// The origins whose private icons the cache may have, sorted; `known` are the origins so far.
    ///
    /// Icons stay when their credential is removed: an origin is dropped only once a credential for it is public. While
    /// everyone can read the cache (`isExposed`), private credentials are not used.
    package func privateOrigins(after known: [String], isExposed: Bool) -> [String] {
        func origins(_ isPublic: Bool) -> Set<String> {
            Set(entries.lazy.filter { $0.isPublic == isPublic }.map(\.origin))
        }
        return Set(known).subtracting(origins(true)).union(isExposed ? [] : origins(false)).sorted()
    }

    /// Chooses the credential of a request: the first that matches its URL and is for one of the lists.
    ///
    /// `lists` name the icon; `exposure` is the setting by which everyone can read the cache, `nil` if none does.
    ///
    /// - Returns: The credential; `nil` if the URL needs none.
    /// - Throws: A ``FetchFailure`` with the code `auth-refused`.
    package func choose(
        for target: FetchTarget, lists: [ListName], under network: NetworkRules, exposure: String?
    ) throws(FetchFailure) -> Credential? {
        let matching = entries.filter { $0.matches(target) }
        guard !matching.isEmpty else { return nil }
        guard let chosen = matching.first(where: { !$0.lists.isDisjoint(with: lists) }) else {
            throw Self.refused(
                "\(Self.file) has a credential (\(matching[0])), but not for a list that names the icon: add the list to it, "
                    + "and reload the agent")
        }
        guard target.isSecure || chosen.allowsHTTP && network.isAllowed(target.host) else {
            throw Self.refused(
                "the credential is sent over https only: use https, or set http = true for it in \(Self.file) and add the host "
                    + "to network.allowHosts")
        }
        if let exposure, !chosen.isPublic {
            throw Self.refused(
                "everyone could read the icon (\(exposure)): set that to another value and restart the agent, or set "
                    + "public = true for the credential in \(Self.file) and reload it")
        }
        return chosen
    }

    private static func refused(_ message: String) -> FetchFailure { FetchFailure(.authRefused, message, .refused) }

    /// Whether one of these lists, which name the icon, has a credential for it.
    package func hasAny(for url: IconURL, in lists: [ListName]) -> Bool {
        let own = entries.filter { !$0.lists.isDisjoint(with: lists) }
        guard !own.isEmpty, case .server(let target)? = try? IconSource(url) else { return false }
        return own.contains { $0.matches(target) }
    }

    /// Whether a failure of the URL may end with other settings or credentials.
    ///
    /// Many servers answer 403 for a missing file, so a 403 counts only for a URL with a credential. Servers may refuse one
    /// with any status of a client's error, such as 404: that counts if credentials are others now (`areNew`). With TLS 1.3,
    /// they refuse a certificate by closing the connection.
    package func mayDepend(_ code: FetchFailure.Code, of url: IconURL, areNew: Bool = false) -> Bool {
        if code.dependsOnSettings { return true }
        let isOfCertificate = code == .fetch(.connectionClosed)
        if case .http(let status) = code {
            let isRefusal = (400..<500).contains(status) && !Self.passing.contains(status)
            guard status == 403 || areNew && isRefusal else { return false }
        } else if !isOfCertificate {
            return false
        }
        guard !isEmpty, case .server(let target)? = try? IconSource(url) else { return false }
        return entries.contains { ($0.certificate != nil || !isOfCertificate) && $0.matches(target) }
    }

    /// The statuses of client errors that end by themselves.
    private static let passing = [408, 421, 423, 425, 429]

    /// The name of the file with the credentials.
    package static let file = "auth.toml"
}

extension FetchFailure {
    /// A server's refusal in spite of a credential.
    static func refusal(of credential: Credential, _ status: Int) -> FetchFailure {
        FetchFailure(
            .authRefused,
            "the server answered \(status) to the credential (\(credential)): correct it in \(Credentials.file), and "
                + "reload the agent", .forbidden)
    }
}
