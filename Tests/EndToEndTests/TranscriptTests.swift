// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import Subprocess
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

/// What commands print and how they end, as it was looked at; `GOLDEN=write` writes it anew.
@Suite("Transcripts of commands", .timeLimit(.minutes(15)))
struct TranscriptTests {
    /// A state of the world, with the commands that are given in it.
    enum Scene: String, CaseIterable, CustomTestStringConvertible {
        /// Nothing was ever published, and no agent runs.
        case new
        /// An agent has synced once: an icon failed, a list is rejected, and another one has entries that are ignored.
        case stopped
        /// An agent runs with these lists.
        case running
        /// An agent is paused, and an icon waits.
        case paused
        /// An agent runs, and an image is retired.
        case retired

        var testDescription: String { rawValue }
    }

    @Test("commands print what their transcripts have, with the same exit codes", arguments: Scene.allCases)
    func transcript(scene: Scene) async throws {
        try await World.with { world in
            let session = Session(world)
            let (mail, maps) = (world.origin.iconURL("Mail"), world.origin.iconURL("Maps"))
            let gone = world.origin.baseURL + "/gone.png"
            world.origin.respond(to: "/gone.png", with: OriginReply(status: 404))
            switch scene {
            case .new:
                try await session.give(
                    "status", "status --json", "list", "list --json", "list apps.plist", "path \(mail)", "why \(mail)",
                    "sync", "sync --wait", "pause", "resume", "pin \(mail)", "unpin \(mail)", "retry", "retry --failed",
                    "refresh apps.plist", "evict", "evict --dry-run", "evict --confirm --dry-run", "events",
                    "events --follow", "dashboard --no-open", "verify", "verify --repair", "purge", "purge --yes",
                    "check none.plist", "statsu", "pin file:///etc/passwd", "status --jsno")
            case .stopped:
                try Self.dropLists(world, gone)
                try await session.give(
                    "run --once", "run --once --log-level loud", "status", "status --json", "status --watch", "list",
                    "list --json", "list apps.plist", "list apps.plist --json", "list bad.plist", "list mixed.plist",
                    "list app.plist", "list pins", "list pins --json", "path \(mail)", "path \(mail) --json",
                    "path \(gone)",
                    "path \(mail)x", "why \(mail)", "why \(mail) --json", "why \(gone)", "why \(mail)x", "verify",
                    "verify --json", "config", "config --json", "events --limit 1", "events --limit 1 --json")
                let lists = world.agent.lists
                try await session.give(
                    "check \(lists)/apps.plist \(lists)/bad.plist", "check --json \(lists)/mixed.plist",
                    "check --fetch --set network.allow=127.0.0.0/8 \(lists)/apps.plist",
                    "check --fetch --json --set network.allow=127.0.0.0/8 \(lists)/apps.plist", "purge --yes")
            case .running:
                try Self.dropLists(world, gone)
                try await world.agent.whileRunning { _ in
                    try await session.give(
                        "sync --wait", "sync --wait --json", "sync", "sync nope.plist", "sync --wait app.plist",
                        "sync --json", "status", "list", "why \(mail)", "why \(mail) --json", "why \(gone)",
                        "why \(gone) --json", "pin \(mail)", "pin --json \(mail)", "list pins", "unpin \(mail)",
                        "unpin --json \(mail)", "pin --wait \(gone)", "unpin --json \(gone)", "retry nope.plist",
                        "retry \(mail)", "retry --failed", "sync --wait", "retry --failed --json", "sync --wait",
                        "refresh \(mail)x", "refresh \(mail)", "sync --wait", "refresh --json \(mail)", "sync --wait",
                        "evict", "evict --json", "evict --dry-run", "verify", "verify --repair", "config --json", "run",
                        "purge")
                }
            case .paused:
                try await world.agent.whileRunning { _ in
                    try await session.give("pause")
                    try world.drop(["Mail"])
                    try await session.give(
                        "sync --wait", "sync --wait --json", "status", "pause --json", "why \(mail)", "path \(mail)",
                        "pin --wait \(maps)", "list apps.plist", "resume", "sync --wait", "resume --json", "status")
                }
            case .retired:
                try world.drop(["Mail", "Maps"])
                try await world.agent.whileRunning { _ in
                    try await world.published(["Mail", "Maps"])
                    try world.drop(["Mail"])
                    try await world.published(["Mail"])
                    try await session.give(
                        "status", "why \(maps)", "why --json \(maps)", "evict --dry-run", "evict --dry-run --json",
                        "evict --explain \(maps)", "evict --explain \(mail)x", "evict", "evict --json", "purge --yes",
                        "sync --wait")
                }
            }
            try Golden.expect(session.text, "transcript-\(scene.rawValue).txt")
        }
    }

    private static func dropLists(_ world: World, _ gone: String) throws {
        try world.agent.drop(propertyList([("Mail", world.origin.iconURL("Mail")), ("Gone", gone)]), as: "apps.plist")
        try world.agent.drop("no list", as: "bad.plist")
        try world.agent.drop(propertyList([("Two words", "a b"), ("Maps", "data:,no")]), as: "mixed.plist")
    }

    /// Commands with what they print.
    private final class Session: Sendable {
        private let world: World
        private let transcript = Mutex("")

        init(_ world: World) {
            self.world = world
        }

        var text: String { transcript.withLock(\.self) }

        func give(_ commands: String...) async throws {
            for command in commands {
                let answer = try await world.agent.call(command.split(separator: " ").map(String.init))
                let entry = "$ syncagent \(command)\n\(answer.output)\(answer.messages)[exit code \(answer.code)]\n\n"
                transcript.withLock { $0 += same(entry) }
            }
        }

        /// Text without what differs from run to run and from machine to machine.
        private func same(_ text: String) -> String {
            text.replacing(world.folder.string, with: "/world").replacing(world.origin.baseURL, with: "http://origin")
                .replacing(Version.current, with: "VERSION")
                // What root is told.
                .replacing("syncagent run --allow-root --lists", with: "syncagent run --lists")
                .replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/, with: "TIME")
                .replacing(#/TIME  \d+  /#, with: "TIME  NUMBER  ")
                // Some may be there already.
                .replacing(/Downloads are resumed: [^\n]*/, with: "Downloads are resumed: WORK.")
                .replacing(/published (?:now|\d+ \w+ ago)/, with: "published TIME")
                .replacing(/(received +)(?:now|\d+ \w+ ago)/) { "\($0.output.1)TIME" }
                .replacing(/\b(in|another) \d+ (?:s|min|h|days)\b/) { "\($0.output.1) TIME" }
                .replacing(/\b\d+ s\b/, with: "N s")
                // On a slow machine.
                .replacing(/syncagent: (?:\d+ %: |Reading the lists folder)[^\n]*\n/, with: "")
                .replacing(/(process |"pid": |generation": |generation +|"id": )\d+/) { "\($0.output.1)N" }
                .replacing(/[0-9a-f]{2}\/[0-9a-f]{64}|[0-9a-f]{64}/, with: "DIGEST")
                // What the file system of the lists folder is.
                .replacing(/\n\nwatch-polling: .*\n .*/, with: "")
                .replacing(/(, )?\{ "code": "watch-polling"[^}]*\}/, with: "")
                .replacing(/"watch": \{[^}]*\}/, with: #""watch": {}"#)
        }
    }
}
