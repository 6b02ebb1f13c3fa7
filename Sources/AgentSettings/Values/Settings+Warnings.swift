// SPDX-License-Identifier: Apache-2.0
import Fleet
import HTTPRules

extension Settings {
    /// Configurations that are allowed but probably a mistake: sentences without a full stop.
    package var warnings: [String] {
        var warnings: [String] = []
        if upstream.urls.isEmpty, upstream.fallback == .never {
            warnings.append(
                "upstream.fallback is never, but upstream.urls names no upstream: all icons come from their origins")
        }
        if let exposure, credentials.hasPrivate {
            warnings.append(
                "everyone can read the cache (\(exposure)), so credentials in \(Credentials.file) without public = true "
                    + "are not used")
        }
        return warnings
    }

    /// The origins whose private icons the cache may have under these settings; `known` are those so far.
    package func privateOrigins(after known: [String]) -> [String] {
        credentials.privateOrigins(after: known, isExposed: exposure != nil)
    }

    /// The setting by which everyone can read the cache; `nil` if none does.
    package var exposure: String? {
        if cache.mode == .everybody { return "cache.mode = \"\(cache.mode.rawValue)\"" }
        return serve.listen != nil ? "serve.listen" : nil
    }
}
