// SPDX-License-Identifier: Apache-2.0
import Fleet
import Glibc
import IconCache
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Commands export and key", .timeLimit(.minutes(15)), .serialized)
struct ExportCommandTests {
    @Test("an export beside a running agent is a signed upstream, which a web server can read whatever the umask")
    func besideAgent() async throws {
        try await World.with { world in
            try world.drop(["Mail", "Maps"])
            let target = world.folder.appending("export")
            let key = try await Self.makeKey(in: world)
            let user = try world.after("umask 077")
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail", "Maps"])
                let export = try await user.agent.call("export", target.string, "--sign", key.path)
                #expect(export.code == 0 && export.messages.isEmpty, "\(export)")
                let id = try PublicKey(key.line).id
                expectContains(export.output, "2 icons and ", ", signature of key \(id) written")
            }
            let check = UpstreamCheck(target)
            #expect(check.damages.isEmpty)
            #expect(try check.manifest == IconCache(at: world.agent.cache).manifest())
            try Self.verifySignature(at: target, by: key.line)
            try await Self.verifyExport(target, in: world)
            for (path, mode) in [("", 0o755), ("icons", 0o755), ("manifest.json", 0o444)] as [(String, mode_t)] {
                var status = stat()
                try #require(lstat(target.appending(path).string, &status) == 0)
                #expect(status.st_mode & 0o777 == mode, "\(path)")
            }
            let again = try await world.agent.call("export", target.string, "--sign", key.path)
            #expect(again.code == 0 && again.output.contains("no new files."), "\(again)")
            try #require(unlink(target.appending(CacheLayout.signature(.of(Self.manifest(at: target)))).string) == 0)
            let signed = try await world.agent.call("export", target.string, "--sign", key.path)
            expectContains(signed.output, "was already at \(target): no new files, signature of key ")
        }
    }

    @Test("export and key generate refuse wrong uses with the exit codes of the contract, and change nothing")
    func refusals() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            let once = try await world.agent.call("run", "--once")
            try #require(once.code == 0, "\(once.messages)")
            let key = try await Self.makeKey(in: world)
            let open = world.folder.appending("open.key")
            try write(FileBytes.read(FilePath(key.path)), to: open)
            let other = world.folder.appending("other.key")
            try write(FileBytes.read(world.folder.appending("k.pub")), to: other, mode: .ownerReadWrite)
            let target = world.folder.appending("export").string
            let foreign = world.agent.lists.string
            let cases: [(arguments: [String], code: Int32, message: String)] = [
                ([], 64, "Name a folder"), ([target, "--rclone", "a:b"], 64, "not both"),
                (["--rclone", "bucket"], 64, "is not an rclone remote"),
                ([target, "--keep", "soon"], 64, "is not a time"),
                ([target, "--sign", open.string], 78, "can be read by others"),
                ([target, "--sign", "/nonexistent"], 78, "No such file"),
                ([target, "--sign", other.string], 78, "not a secret key"),
                ([foreign], 73, "is not empty"), ([world.agent.cache.string], 73, "is in the cache"),
                ([world.folder.appending("none/export").string], 73, "No such file"),
            ]
            for (arguments, code, message) in cases {
                let result = try await world.agent.call(["export"] + arguments)
                #expect(result.code == code && result.messages.contains(message), "\(arguments): \(result)")
                #expect(result.output.isEmpty && access(target, F_OK) != 0)
            }
            try await Self.expectKeysKept(at: world.folder.appending("k").string, key.line)
        }
    }

    /// Expects a key pair to be its owner's, and none of its files to be replaced, even if the other one is missing.
    private static func expectKeysKept(at name: String, _ line: String) async throws {
        #expect(try PublicKey(line).description == line)
        #expect(try FilePath("\(name).key").stat().permissions == .ownerReadWrite)
        let before = try ["key", "pub"].map { try FileBytes.read(FilePath("\(name).\($0)")) }
        for missing in ["key", "pub", nil] {
            if let missing { try #require(rename("\(name).\(missing)", "\(name).away") == 0) }
            let second = try await Program.run(
                BuiltProducts.path("syncagent").string, "key", "generate", "--output", name)
            #expect(second.code == 73 && second.messages.contains("exists"), "\(second)")
            if let missing { try #require(rename("\(name).away", "\(name).\(missing)") == 0) }
        }
        #expect(try ["key", "pub"].map { try FileBytes.read(FilePath("\(name).\($0)")) } == before)
    }

    /// Makes a key pair in the world's folder.
    static func makeKey(in world: World) async throws -> (path: String, line: String) {
        let name = world.folder.appending("k").string
        let result = try await Program.run(BuiltProducts.path("syncagent").string, "key", "generate", "--output", name)
        try #require(result.code == 0, "\(result.messages)")
        return ("\(name).key", String(result.output.prefix { $0 != "\n" }))
    }

    private static func manifest(at target: FilePath) throws -> [UInt8] {
        try FileBytes.read(target.appending(CacheLayout.manifest))
    }

    /// Has `verify` read an export, intact and damaged; it has no names for images by URL, and gets none.
    private static func verifyExport(_ target: FilePath, in world: World) async throws {
        let program = BuiltProducts.path("syncagent").string
        let copy = world.folder.appending("copy")
        _ = try await Program.run(["cp", "-a", target.string, copy.string])
        let socket = world.folder.appending("control.sock").string
        func verify(_ options: [String] = []) async throws -> Program {
            try await Program.run(
                [program, "verify", "--cache", copy.string, "--state", "/nonexistent", "--socket", socket] + options)
        }
        let intact = try await verify()
        #expect(intact.code == 0, "\(intact)")
        guard case .ready(let image)? = try IconCache(at: copy).document(of: "apps.plist")?.apps.first?.state else {
            Issue.record("the export has an image")
            return
        }
        try #require(unlink(copy.appending(image.path).string) == 0)
        for (options, code) in [([], 1), (["--repair"], 73)] as [([String], Int)] {
            let damaged = try await verify(options)
            #expect(damaged.code == code && damaged.messages.contains("\(copy) is a copy of a cache"), "\(damaged)")
        }
        #expect(access(copy.appending(CacheLayout.lock).string, F_OK) != 0)
    }

    /// Verifies the signature of the manifest at the target, as an agent does.
    static func verifySignature(at target: FilePath, by line: String) throws {
        let manifest = try manifest(at: target)
        let path = target.appending(CacheLayout.signature(.of(manifest)))
        try verify(Signature(text: FileBytes.read(path)), of: manifest, by: [PublicKey(line)])
    }
}
