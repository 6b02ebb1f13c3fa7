// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
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
    "Exports by rclone", .serialized, .enabled(if: Tool.areInstalled("rclone"), "rclone is not installed"))
struct RcloneExportTests {
    @Test("carries to a remote only what is new, and removes what is old")
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
                #expect(try await export().contains("no new files"))
            }
            let check = UpstreamCheck(target)
            let icons = try files(in: target.appending(CacheLayout.icons))
            #expect(icons.count == 3)
            // One is damaged, and one is missing.
            let damaged = target.appending("\(CacheLayout.icons)/\(icons[0])")
            var bytes = try FileBytes.read(damaged)
            bytes[0] ^= 1
            try #require(unlink(damaged.string) == 0)
            try write(bytes, to: damaged)
            #expect(try await export("--verify", "--keep", "0s").contains("removed"))
            let left = try files(in: target).filter { !$0.hasPrefix(ExportLayout.own) && !$0.hasPrefix("signatures/") }
            #expect(Set(left) == check.named.union([CacheLayout.manifest]))

            let none = try await world.agent.call("export", "--rclone", "none:x")
            #expect(none.code == 73 && none.messages.contains("rclone: "), "\(none.messages)")
            let missing = try await world.setting("PATH", "/nonexistent").agent.call("export", "--rclone", "none:x")
            #expect(missing.code == 73 && missing.messages.contains("rclone is not installed"), "\(missing.messages)")
        }
    }

    @Test("goes on with what the agent publishes meanwhile")
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
                #expect(result.output.contains("Generation \(first) exported to"), "\(result.output)")
                let check = UpstreamCheck(target)
                #expect(check.damages.isEmpty)
                let last = try #require(check.manifest?.generation)
                #expect(last > first && result.output.contains("Generation \(last) exported to"), "\(result.output)")
            }
        }
    }

    @Test("with --verify finds damage where the remote has no digests")
    func verifiesWithoutDigests() async throws {
        try await World.with { world in
            let configuration = world.folder.appending("rclone.conf")
            try write(
                """
                [c]
                type = crypt
                remote = \(world.folder.appending("bucket"))
                password = 3Fiy4SNAPAVRnL5jYuM6QtKnPXpd
                """, to: configuration)
            let world = world.setting("RCLONE_CONFIG", configuration.string)
            try world.drop(["Mail", "Maps"])
            try await world.syncOnce()
            func export() async throws -> String {
                let result = try await world.agent.call("export", "--rclone", "c:", "--verify")
                try #require(result.code == 0, "\(result.messages)")
                return result.output
            }
            _ = try await export()
            #expect(try await export().contains("no new files"))

            let icons = world.agent.cache.appending(CacheLayout.icons)
            let icon = try #require(try files(in: icons).first)
            var bytes = try FileBytes.read(icons.appending(icon))
            bytes[0] ^= 1
            let damaged = world.folder.appending("damaged")
            try write(bytes, to: damaged)
            try await Tool.run(
                "rclone", "--config", configuration.string, "copyto", "--ignore-times", damaged.string,
                "c:\(CacheLayout.icons)/\(icon)")
            #expect(try await export().contains("1 icon copied"))
            #expect(try await export().contains("no new files"))
        }
    }

    @Test("with --verify does not take an error of rclone for damage")
    func failedCheck() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            try await world.syncOnce()
            let target = world.folder.appending("bucket")
            let first = try await world.agent.call("export", "--rclone", ":local:\(target)")
            try #require(first.code == 0, "\(first.messages)")
            // It cannot read any file, stops before the first one, or cannot read the second one alone.
            for (report, path) in [
                ("sed 's/^/! /'", "icons/"), ("cat > /dev/null", "icons/"), ("sed '1s/^/= /; 2s/^/! /'", "lists/"),
            ] {
                let world = try world.wrappingRclone(
                    """
                    [ "$1" = check ] || exec rclone "$@"
                    \(report)
                    echo 'connection reset' >&2
                    exit 1
                    """)
                let result = try await world.agent.call("export", "--rclone", ":local:\(target)", "--verify")
                #expect(result.code == 73 && result.output.isEmpty, "\(result)")
                #expect(result.messages.contains("rclone check failed for :local:\(target): \(path)"), "\(result)")
                #expect(result.messages.contains("rclone: connection reset"), "\(result)")
            }
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
