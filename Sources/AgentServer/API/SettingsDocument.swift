// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import SyncAgent
package import SyncPlan
import SystemPackage

/// The effective settings and folders of an agent, as `GET /v1/settings` tells them.
package enum SettingsDocument {
    package static func json(_ settings: Settings, _ folders: AgentFolders) -> JSON {
        let values = SettingKey.all.map { key -> JSON in
            [
                "key": .string(key.name), "value": .string(withoutSecrets(key.value(in: settings))),
                "variable": .string(key.variable),
            ]
        }
        return [
            "format": 1,
            "folders": [
                "lists": .string(folders.lists.string), "cache": .string(folders.cache.string),
                "state": .string(folders.state.string), "socket": .string(folders.socket.string),
            ],
            "settings": .lines(.array(values)),
        ]
    }

    /// A value as everyone may read it: of a URL with a user name and a password these are left out.
    static func withoutSecrets(_ value: String) -> String {
        guard let scheme = value.firstRange(of: "://") else { return value }
        let rest = value[scheme.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@") else { return value }
        return value[..<scheme.upperBound] + "…" + rest[at...]
    }
}
