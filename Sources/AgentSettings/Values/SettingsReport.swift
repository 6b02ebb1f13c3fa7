// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The output of `syncagent config`: the settings in force, and where each one came from.
package struct SettingsReport: Codable, Equatable, Sendable {
    package struct Setting: Codable, Equatable, Sendable {
        package var key: String
        package var variable: String
        /// The value as written in a variable, without passwords; empty if the setting has no value.
        package var value: String
        package var `default`: String
        /// The source of the value: `default`, `file`, `environment` or `option`.
        package var source: String
        /// The file and line, the variable or the option; `nil` for a default.
        package var place: String?
        /// Whether another value is configured that takes effect only after a restart.
        package var needsRestart = false
        /// `true` if a password was removed from the value, else `nil`.
        package var redacted: Bool?
    }

    package struct Folders: Codable, Equatable, Sendable {
        package var lists: String
        package var cache: String
        package var state: String
        package var socket: String

        package init(lists: String, cache: String, state: String, socket: String) {
            (self.lists, self.cache, self.state, self.socket) = (lists, cache, state, socket)
        }
    }

    /// The process ID of the agent that uses the settings; `nil` if no agent was asked.
    package var pid: Int?
    /// The configuration file, whether or not it exists.
    package var file: String
    package var folders: Folders
    package var settings: [Setting]

    package init(file: String, folders: Folders, settings: [Setting]) {
        (self.file, self.folders, self.settings) = (file, folders, settings)
    }

    package var json: JSON {
        let rows = settings.map { setting in
            guard case .object(let members) = JSON(setting) else { return JSON(setting) }
            // A value that is shown whole has no member `redacted`.
            return .object(members.filter { $0.key != "redacted" || setting.redacted != nil })
        }
        return [
            "format": 1, "pid": pid.map(JSON.number) ?? .null, "file": .string(file), "folders": JSON(folders),
            "settings": .lines(.array(rows)),
        ]
    }
}
