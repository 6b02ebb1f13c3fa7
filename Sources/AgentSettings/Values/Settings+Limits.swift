// SPDX-License-Identifier: Apache-2.0
package import AppLists
import CacheFormat
package import HTTPRules
package import ImageChecks

extension Settings.Fetch {
    package var limits: RequestLimits {
        RequestLimits(
            connectTimeout: connectTimeout, idleTimeout: idleTimeout, totalTimeout: totalTimeout, table: "fetch")
    }
}

extension ListLimits {
    package init(_ settings: Settings.Lists) {
        self.init(
            maxBytes: settings.maxBytes, maxEntries: settings.maxEntries, iconKeys: settings.iconKeys,
            identityKeys: settings.identityKeys, iconBase: settings.iconBaseURL.flatMap { IconBase($0) })
    }

    /// Identifies the rules by which lists are read: these limits, with their keys, and the agent's version.
    package var rules: String {
        let parts = [Version.current, String(maxBytes.bytes), String(maxEntries), iconBase?.url ?? ""] + iconKeys
        // Separates the two lists of keys: an empty line is not a valid key.
        return (parts + [""] + identityKeys).joined(separator: "\n")
    }
}

extension ImageLimits {
    package init(_ settings: Settings.Images) {
        self.init(maxSide: settings.maxSide, maxPixels: settings.maxPixels, allowsSVG: settings.allowSVG)
    }
}

extension Download.Rules {
    package init(_ settings: Settings) {
        self.init(
            policy: settings.network, maxBytes: settings.fetch.maxBytes, maxRedirects: settings.fetch.maxRedirects,
            allowDowngrade: settings.fetch.allowDowngrade, credentials: settings.credentials,
            exposure: settings.exposure, keys: settings.keys)
    }
}
