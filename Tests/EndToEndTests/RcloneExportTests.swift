// SPDX-License-Identifier: Apache-2.0
import Fleet
import FoundationEssentials
import Glibc
import IconCache
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite(
    "Exports by rclone", .timeLimit(.minutes(15)), .serialized,
    .enabled(if: Tool.areInstalled("rclone"), "rclone is not installed"))
struct RcloneExportTests {
    @Test("an export by rclone copies only what is new, and removes what is old")
    func whole() async throws {
        try await World.with { world in
            let world = world.setting("RCLONE_CONFIG", "/dev/null").setting("AWS_CA_BUNDLE", "/dev/null")
            let key = try await ExportCommandTests.makeKey(in: world)
            let target = world.folder.appending("bucket")
            func export(_ options: String...) async throws -> String {
                let command = ["export", "--rclone", ":local:\(target)", "--sign", key.path] + options
                let result = try await world.agent.call(command)
                try #require(result.code == 0, "\(result.messages)")
                #expect(UpstreamCheck(target).damages.isEmpty)
                try ExportCommandTests.verifySignature(at: target, by: key.line)
                return result.output
            }
            for names in [["Mail", "Maps"], ["Maps", "Mosaic"]] {
                try world.drop(names)
                try await world.syncOnce()
                _ = try await export()
                expectContains(try await export(), "no new files")
            }
            let check = UpstreamCheck(target)
            let icons = try files(in: target.appending(CacheLayout.icons))
            #expect(icons.count == 3)
            let damaged = target.appending("\(CacheLayout.icons)/\(icons[0])")
            var bytes = try FileBytes.read(damaged)
            bytes[0] ^= 1
            try #require(unlink(damaged.string) == 0)
            try write(bytes, to: damaged)
            expectContains(try await export("--verify", "--keep", "0s"), "removed")
            let left = try files(in: target).filter { !$0.hasPrefix(ExportLayout.own) && !$0.hasPrefix("signatures/") }
            #expect(Set(left) == check.named.union([CacheLayout.manifest]))

            let none = try await world.agent.call("export", "--rclone", "none:x")
            #expect(none.code == 73)
            expectContains(none.messages, "rclone: ")
            let missing = try await world.setting("PATH", "/nonexistent").agent.call("export", "--rclone", "none:x")
            #expect(missing.code == 73)
            expectContains(missing.messages, "rclone is not installed")
        }
    }

    @Test("an export by rclone goes on with what the agent publishes meanwhile")
    func publishedMeanwhile() async throws {
        try await World.with { world in
            let (target, next) = (world.folder.appending("bucket"), world.folder.appending("next.plist"))
            try write(propertyList(["Mail", "Maps"].map { ($0, world.origin.iconURL($0)) }), to: next)
            // When the first manifest is about to be written, the agent gets another list.
            let world = try world.wrappingRclone(
                """
                manifest='\(world.agent.cache.appending(CacheLayout.manifest))'
                case "$*" in rcat*/manifest.json*)
                    if [ -e '\(next)' ]; then
                        old=$(cksum < "$manifest")
                        mv '\(next)' '\(world.agent.lists)/next.plist'
                        for _ in $(seq 300); do [ "$old" = "$(cksum < "$manifest")" ] || break; sleep 0.1; done
                    fi
                esac
                exec rclone "$@"
                """)
            try world.drop(["Mail"])
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail"])
                let first = try IconCache(at: world.agent.cache).manifest().generation
                let result = try await world.agent.call("export", "--rclone", ":local:\(target)")
                try #require(result.code == 0, "\(result.messages)")
                let check = UpstreamCheck(target)
                #expect(check.damages.isEmpty)
                let last = try #require(check.manifest?.generation)
                #expect(last > first)
                expectContains(result.output, "Generation \(first) exported to", "Generation \(last) exported to")
            }
        }
    }

    @Test("export --verify finds damage where the remote has no digests, and takes no error of rclone for damage")
    func verifies() async throws {
        try await World.with { plain in
            let configuration = plain.folder.appending("rclone.conf")
            try write(
                """
                [c]
                type = crypt
                remote = \(plain.folder.appending("bucket"))
                password = 3Fiy4SNAPAVRnL5jYuM6QtKnPXpd
                """, to: configuration)
            let world = plain.setting("RCLONE_CONFIG", configuration.string)
            try world.drop(["Mail", "Maps"])
            try await world.syncOnce()
            func export() async throws -> String {
                let result = try await world.agent.call("export", "--rclone", "c:", "--verify")
                try #require(result.code == 0, "\(result.messages)")
                return result.output
            }
            _ = try await export()
            expectContains(try await export(), "no new files")

            let icons = world.agent.cache.appending(CacheLayout.icons)
            let icon = try #require(try files(in: icons).first)
            var bytes = try FileBytes.read(icons.appending(icon))
            bytes[0] ^= 1
            let damaged = world.folder.appending("damaged")
            try write(bytes, to: damaged)
            try await Tool.run(
                "rclone", "--config", configuration.string, "copyto", "--ignore-times", damaged.string,
                "c:\(CacheLayout.icons)/\(icon)")
            expectContains(try await export(), "1 icon copied")
            expectContains(try await export(), "no new files")
            try await Self.expectNoDamage(plain)
        }
    }

    /// Expects an export to a remote that has digests to fail with rclone, and to copy nothing.
    private static func expectNoDamage(_ world: World) async throws {
        let target = world.folder.appending("plain")
        let first = try await world.agent.call("export", "--rclone", ":local:\(target)")
        try #require(first.code == 0, "\(first.messages)")
        // rclone cannot read any file, stops before the first one, or cannot read the document alone, behind two icons.
        for (report, path) in [
            ("sed 's/^/! /'", "icons/"), ("cat > /dev/null", "icons/"), ("sed '1,2s/^/= /; 3s/^/! /'", "lists/"),
        ] {
            let failing = try world.wrappingRclone(
                """
                [ "$1" = check ] || exec rclone "$@"
                \(report)
                echo 'connection reset' >&2
                exit 1
                """)
            let result = try await failing.agent.call("export", "--rclone", ":local:\(target)", "--verify")
            #expect(result.code == 73 && result.output.isEmpty, "\(result)")
            expectContains(
                result.messages, "rclone check failed for :local:\(target): \(path)", "rclone: connection reset")
        }
    }
}

extension World {
    /// Runs the agent once.
    fileprivate func syncOnce() async throws {
        let once = try await agent.call("run", "--once")
        try #require(once.code == 0, "\(once.messages)")
    }

    /// The same world, in which a script is found in the place of rclone, which finds rclone itself.
    fileprivate func wrappingRclone(_ lines: String) throws -> World {
        let folder = folder.appending("bin")
        if access(folder.string, F_OK) != 0 { try makeFolder(folder) }
        try makeScript("PATH=${PATH#*:}\n\(lines)", in: folder).move(to: folder.appending("rclone"))
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return setting("PATH", "\(folder):\(path)").setting("RCLONE_CONFIG", "/dev/null")
    }
}
