// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import DemoOrigin
import Glibc
import Subprocess
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("What a reload changes", .timeLimit(.minutes(3)))
struct ReloadTests {
    /// A setting, and what comes of a new icon once it holds.
    private struct Row: Sendable {
        var setting: String
        /// As it is written in the file.
        var literal: String
        /// As it is shown.
        var value: String
        /// The path of the icon; another query makes it a new one.
        var path = "/icon.png"
        /// The key of the icon in the list.
        var key = "icon"
        var isDone: @Sendable (StatusReport) -> Bool

        /// A row whose icon fails.
        static func failing(_ setting: String, _ literal: String, _ value: String, _ path: String, _ code: String)
            -> Row
        {
            Row(setting: setting, literal: literal, value: value, path: path) { $0.failures?.first?.code == code }
        }
    }

    private static let rows: [Row] = [
        .failing("fetch.maxBytes", "\"10B\"", "10B", "/icon.png", "too-large"),
        .failing("images.maxSide", "1", "1", "/icon.png", "image-too-large"),
        .failing("fetch.maxRedirects", "0", "0", "/redirect", "too-many-redirects"),
        .failing("fetch.idleTimeout", "\"200ms\"", "200ms", "/held", "timeout"),
        .failing("images.maxPixels", "1", "1", "/icon.png", "image-too-large"),
        .failing("fetch.totalTimeout", "\"200ms\"", "200ms", "/held", "timeout"),
        .failing("network.denyHosts", "[\"127.0.0.1\"]", "127.0.0.1", "/icon.png", "host-refused"),
        Row(setting: "fetch.userAgent", literal: "\"probe/1\"", value: "probe/1", path: "/agent") {
            $0.icons.ready == 1
        },
        .failing("fetch.proxy", "\"http://127.0.0.1:1\"", "http://127.0.0.1:1", "/icon.png", "connect"),
        Row(setting: "lists.iconKeys", literal: "[\"pic\"]", value: "icon,pic", key: "pic") {
            $0.lists.map(\.state) == ["ok"] && $0.icons.ready == 1
        },
        Row(setting: "lists.maxBytes", literal: "\"10B\"", value: "10B") { $0.lists.first?.code == "too-large" },
        Row(setting: "cache.minFree", literal: "\"900000GiB\"", value: "900000GiB") {
            $0.downloads.code == "disk-full"
        },
    ]

    @Test("a setting that takes no restart holds for what comes after the reload")
    func reload() async throws {
        try await World.with { plain in
            let file = plain.folder.appending("syncagent.toml")
            try write("", to: file)
            var world = plain
            world.agent.runOptions += ["--config", file.string]
            let image = OriginReply(
                headers: [("Content-Type", "image/png")], body: OriginReply.icon(IconDrawing("Mail")).body)
            world.origin.respond(to: "/redirect", with: OriginReply(status: 302, headers: [("Location", "/icon.png")]))
            for path in ["/icon.png", "/held"] { world.origin.respond(to: path, with: image) }
            world.origin.hold("/held")
            world.origin.respond(to: "/agent") { request in
                request.headers["user-agent"] == "probe/1" ? image : OriginReply(status: 404)
            }
            try await world.agent.whileRunning { [world] agent in
                for row in Self.rows {
                    let key = try #require(SettingKey.all.first { $0.name == row.setting })
                    try #require(key.effect == .reload, "\(row.setting)")
                    try write("[\(key.table)]\n\(key.key) = \(row.literal)\n", to: file)
                    try #require(kill(agent.value, SIGHUP) == 0)
                    let shown =
                        "\"key\": \"\(key.name)\", \"variable\": \"\(key.variable)\", \"value\": \"\(row.value)\""
                    try await waitUntil { try await world.agent.call("config", "--json").output.contains(shown) }
                    let list = propertyList([("A", "\(world.origin.baseURL)\(row.path)?\(row.setting)")])
                    let keyed = list.replacing("<key>icon</key>", with: "<key>\(row.key)</key>")
                    try world.agent.drop(keyed, as: "a.plist")
                    let status = try await world.agent.status { row.isDone($0) }
                    #expect(status.configuration.error == nil, "\(row.setting)")
                }
            }
        }
    }

    @Test("each setting that takes a restart is said to, and stays what it was")
    func restart() async throws {
        try await World.with { plain in
            let file = plain.folder.appending("syncagent.toml")
            try write("", to: file)
            var world = plain
            world.agent.runOptions += ["--config", file.string]
            let values = [
                "cache.mode": "\"0750\"", "control.group": "\"nogroup\"", "control.readers": "\"group\"",
                "dashboard.listen": "\"127.0.0.1:1\"", "serve.listen": "\"127.0.0.1:2\"",
                "metrics.listen": "\"127.0.0.1:3\"", "metrics.textfile": "\"/nonexistent/x.prom\"",
            ]
            let keys = SettingKey.all.filter { $0.effect == .restart }
            #expect(Set(keys.map(\.name)) == Set(values.keys))
            let tables = Dictionary(grouping: keys, by: \.table).map { table, keys in
                (["[\(table)]"] + keys.map { "\($0.key) = \(values[$0.name] ?? "")" }).joined(separator: "\n")
            }
            try await world.agent.whileRunning { [world] agent in
                try write(tables.joined(separator: "\n"), to: file)
                try #require(kill(agent.value, SIGHUP) == 0)
                try await waitUntil {
                    try await world.agent.call("config", "--json").output.contains("\"needsRestart\": true")
                }
                let lines = try await world.agent.call("config", "--json").output.split(separator: "\n")
                for key in SettingKey.all {
                    let line = lines.first { $0.contains("\"key\": \"\(key.name)\"") } ?? ""
                    #expect(line.contains("\"needsRestart\": \(key.effect == .restart)"), "\(line)")
                    #expect(line.contains("\"value\": \"\(key.value(in: Settings()))\"") || key.effect == .reload)
                }
                #expect(try await world.agent.status { _ in true }.listeners ?? [] == [])
            }
        }
    }
}
