// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules

/// How settings changed since a request was sent, as far as that may end its failure.
struct SettingsChange: Sendable {
    /// The present credentials, and those that were removed: a URL may have failed because of one of them.
    private(set) var credentials: Credentials
    private var areNew = false
    private(set) var hasOtherRequests = false
    /// Whether the proxy or the `User-Agent` is another one.
    private var haveOtherSender = false

    /// No change, but that files of credentials and authorities may have other contents.
    init(to new: Settings) { credentials = new.credentials }

    init(from old: Settings, to new: Settings) {
        areNew = new.credentials != old.credentials
        credentials = Credentials(new.credentials.entries + (areNew ? old.credentials.entries : []))
        hasOtherRequests = new.network != old.network || new.fetch != old.fetch
        haveOtherSender = (new.fetch.userAgent, new.fetch.proxy) != (old.fetch.userAgent, old.fetch.proxy)
    }

    /// This change and a later one.
    func followed(by later: SettingsChange) -> SettingsChange {
        var both = self
        if later.areNew { both.credentials.entries += later.credentials.entries }
        both.areNew = areNew || later.areNew
        both.hasOtherRequests = hasOtherRequests || later.hasOtherRequests
        both.haveOtherSender = haveOtherSender || later.haveOtherSender
        return both
    }

    /// Whether a failure may end that a request of this machine, or an upstream, brought (`isOwn`).
    func mayEnd(_ code: FetchFailure.Code, of url: IconURL, isOwn: Bool) -> Bool {
        credentials.mayDepend(code, of: url, areNew: areNew)
            || isOwn && hasOtherRequests && code.dependsOnRequests(haveOtherSender: haveOtherSender)
    }
}
