// SPDX-License-Identifier: Apache-2.0
package import AppLists
import CacheFormat
package import HTTPRules
package import ImageChecks

extension ListLimits {
    package init(_ settings: Settings.Lists) {
        self.init(
            maxBytes: settings.maxBytes, maxEntries: settings.maxEntries, iconKeys: settings.iconKeys,
            identityKeys: settings.identityKeys, iconBase: settings.iconBaseURL.flatMap { IconBase($0) })
    }

    /// Identifies the rules by which lists were read: these limits and this version.
    package var rules: String {
        let parts = [Version.current, String(maxBytes.bytes), String(maxEntries), iconBase?.url ?? ""] + iconKeys
        // An empty line, which is not a valid key, separates the two.
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
