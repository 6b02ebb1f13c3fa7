// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Verifying and repairing files", .timeLimit(.minutes(15)))
struct VerifyTests {
    /// Changes a byte of an icon's image, as a disk that is going bad would.
    private static func damage(_ name: String, in world: World) throws {
        let path = byURL(name, in: world)
        try #require(chmod(path, 0o644) == 0)
        let file = open(path, O_WRONLY)
        defer { close(file) }
        try #require(file >= 0 && pwrite(file, "!", 1, 20) == 1)
    }

    /// The path of an icon's name in `by-url/`.
    private static func byURL(_ name: String, in world: World) -> String {
        world.agent.cache.appending(CacheLayout.byURL(IconURL(world.origin.iconURL(name)))).string
    }

    @Test("verify finds damaged and missing files, and a manifest that cannot be read")
    func damaged() async throws {
        try await World.with { world in
            try world.drop(["Mail", "Maps", "Music"])
            #expect(try await world.agent.call("verify").code == 1)
            try #require(try await world.agent.call("run", "--once").code == 0)
            let whole = try await world.agent.call("verify")
            #expect(whole.code == 0)
            expectContains(whole.output, "3 images", "0 files damaged")
            let json = try await world.agent.call("verify", "--json")
            expectContains(json.output, "\"images\": 3", "\"damage\": []")

            try Self.damage("Mail", in: world)
            try #require(unlink(Self.byURL("Music", in: world)) == 0)
            let result = try await world.agent.call("verify")
            #expect(result.code == 1)
            expectContains(result.output, "2 files damaged", "its digest does not match", "it is missing")
            let manifest = world.agent.cache.appending("manifest.json").string
            try #require(chmod(manifest, 0o644) == 0 && truncate(manifest, 10) == 0)
            #expect(try await world.agent.call("verify").code == 1)
        }
    }

    @Test("verify --repair has a running agent write a manifest again that is gone, alone or with the whole cache")
    func lostManifest() async throws {
        try await World.with { plain in
            let world = plain.setting("SYNCAGENT_LISTS_RESCAN", "1h")
            try world.drop(["Mail"])
            try await world.agent.whileRunning { _ in
                for removal in ["rm manifest.json", "echo nonsense > new; mv -f new manifest.json", "rm -rf ./*"] {
                    var repair: (code: Int32, output: String, messages: String)
                    // An inspection that was due may have the agent write it again before the command looks.
                    repeat {
                        try await world.published(["Mail"])
                        // The repair before may still be running, and would notice.
                        #expect(try await world.agent.call("sync", "--wait").code == 0)
                        try await Tool.run("sh", "-ec", "cd '\(world.agent.cache)'; \(removal)")
                        repair = try await world.agent.call("verify", "--repair")
                    } while repair.code == 0
                    #expect(repair.code == 1, "\(removal)")
                    expectContains(repair.messages, "The agent is writing it again")
                    try await waitUntil { try await world.agent.call("verify").code == 0 }
                }
            }
        }
    }

    @Test("verify --repair restores files from their second names, and has a running agent download the other images")
    func repair() async throws {
        try await World.with { world in
            try world.drop(["Mail", "Maps", "Music", "Notes"])
            try #require(try await world.agent.call("run", "--once").code == 0)
            let before = try await world.agent.call("list", "apps.plist").output
            try Self.damage("Mail", in: world)
            let document = try #require(try IconCache(at: world.agent.cache).document(of: "apps.plist"))
            guard case .ready(let maps) = document.apps[1].state else { return #expect(Bool(false), "not ready") }
            try #require(unlink(world.agent.cache.appending(maps.path).string) == 0)
            try #require(unlink(Self.byURL("Music", in: world)) == 0)
            let lost = try await world.agent.call("path", world.origin.iconURL("Maps"))
            #expect(lost.code == 1 && lost.output.isEmpty)
            expectContains(lost.messages, "verify --repair")

            let alone = try await world.agent.call("verify", "--repair")
            #expect(alone.code == 1)
            expectContains(alone.output, "4 images (\(Self.size(document))) verified, 3 files damaged\n")
            expectLines(
                alone.messages,
                """
                syncagent: 2 of 3 damaged files repaired.
                syncagent: 1 image must be downloaded or rendered again: start the agent, then run \
                syncagent verify --repair again.

                """)
            #expect(try await world.agent.call("path", world.origin.iconURL("Maps")).code == 0)
            expectLines(try await world.agent.call("list", "apps.plist").output, before)
            #expect(world.origin.requestCount == 4)
            let left = try await world.agent.call("verify")
            #expect(left.code == 1)
            expectContains(left.output, "its digest does not match")

            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.inSync }
                let repair = try await world.agent.call("verify", "--repair")
                #expect(repair.code == 1)
                expectContains(
                    repair.messages, "syncagent: The agent is repairing 1 file. Verify again with: syncagent verify --")
                try await world.published(["Mail", "Maps", "Music", "Notes"])
                #expect(try await world.agent.call("verify").code == 0)
                try Self.damage("Maps", in: world)
                let elsewhere = world.folder.appending("other.sock").string
                let refused = try await world.agent.call("verify", "--repair", "--socket", elsewhere)
                #expect(refused.code == 75)
                expectContains(refused.messages, "no process listens at \(elsewhere)")
                #expect(try await world.agent.call("verify", "--repair").code == 1)
                try await world.published(["Mail", "Maps", "Music", "Notes"])
            }
            #expect(world.origin.requestCount == 6)
            #expect(try world.expectWholeCache() == 4)
            // A running agent does not write a document again, and nobody is told to wait for that.
            try await world.agent.whileRunning { _ in
                let damage = "for file in lists/*; do chmod u+w \"$file\"; echo >>\"$file\"; done"
                try await Tool.run("sh", "-ec", "cd '\(world.agent.cache)'; \(damage)")
                let repair = try await world.agent.call("verify", "--repair")
                expectContains(repair.messages, "restart the agent to write them again")
                #expect(!repair.messages.contains("is repairing"))
            }
            try await world.agent.whileRunning { _ in
                try await waitUntil { try await world.agent.call("verify").code == 0 }
            }
        }
    }

    private static func size(_ document: AppListDocument) -> String {
        let bytes = document.apps.reduce(0) { sum, app in
            guard case .ready(let image) = app.state else { return sum }
            return sum + image.bytes
        }
        return ByteCount(bytes).rounded
    }
}
