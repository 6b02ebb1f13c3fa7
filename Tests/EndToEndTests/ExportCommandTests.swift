// SPDX-License-Identifier: Apache-2.0
import Fleet
import Glibc
import IconCache
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Exports, as commands", .serialized)
struct ExportCommandTests {
    @Test("an export beside a running agent is an upstream with a signature that its public key verifies")
    func besideAgent() async throws {
        try await World.with { world in
            try world.drop(["Mail", "Maps"])
            let target = world.folder.appending("export")
            let key = try await Self.makeKey(in: world)
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail", "Maps"])
                let export = try await world.agent.call("export", target.string, "--sign", key.path)
                #expect(export.code == 0 && export.messages.isEmpty, "\(export)")
                let id = try PublicKey(key.line).id
                #expect(export.output.contains("2 icons and "), "\(export.output)")
                #expect(export.output.contains(", signature of key \(id) written"), "\(export.output)")
            }
            let check = UpstreamCheck(target)
            #expect(check.damages.isEmpty)
            #expect(try check.manifest == IconCache(at: world.agent.cache).manifest())
            try Self.verifySignature(at: target, by: key.line)
            let again = try await world.agent.call("export", target.string, "--sign", key.path)
            #expect(again.code == 0 && again.output.contains("no new files."), "\(again)")
            try #require(unlink(target.appending(CacheLayout.signature(.of(Self.manifest(at: target)))).string) == 0)
            let signed = try await world.agent.call("export", target.string, "--sign", key.path)
            #expect(signed.output.contains("was already at \(target): no new files, signature of key "), "\(signed)")
        }
    }

    @Test("a web server can read an export, whatever the umask of the shell is")
    func modes() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            #expect(try await world.agent.call("run", "--once").code == 0)
            let target = world.folder.appending("export")
            let result = try await Program.run(
                "sh", "-c", "umask 077; exec \"$0\" \"$@\"", BuiltProducts.path("syncagent").string, "export",
                target.string, "--cache", world.agent.cache.string)
            #expect(result.code == 0, "\(result)")
            for (path, mode) in [("", 0o755), ("icons", 0o755), ("manifest.json", 0o444)] as [(String, mode_t)] {
                var status = stat()
                try #require(lstat(target.appending(path).string, &status) == 0)
                #expect(status.st_mode & 0o777 == mode, "\(path)")
            }
        }
    }

    @Test("wrong uses are refused with the exit codes of the contract, and change nothing")
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
        }
    }

    @Test("keys are made for their owner alone, and replace nothing")
    func keys() async throws {
        try await withTemporaryFolder { folder in
            let program = BuiltProducts.path("syncagent").string
            let name = folder.appending("a").string
            func generate() async throws -> Program {
                try await Program.run(program, "key", "generate", "--output", name)
            }
            let first = try await generate()
            #expect(first.code == 0)
            let line = first.output.prefix { $0 != "\n" }
            #expect(try PublicKey(String(line)).description == line)
            #expect(try FilePath("\(name).key").stat().permissions == .ownerReadWrite)
            let before = try ["key", "pub"].map { try FileBytes.read(FilePath("\(name).\($0)")) }
            for missing in ["key", "pub", nil] {
                if let missing { try #require(rename("\(name).\(missing)", "\(name).away") == 0) }
                let second = try await generate()
                #expect(second.code == 73 && second.messages.contains("exists"), "\(second)")
                if let missing { try #require(rename("\(name).away", "\(name).\(missing)") == 0) }
            }
            #expect(try ["key", "pub"].map { try FileBytes.read(FilePath("\(name).\($0)")) } == before)
        }
    }

    @Test("what cannot be read or written for lack of rights is told with what helps")
    func rights() {
        let message = KeyFiles.unreadable("/etc/syncagent/export.key", Errno.permissionDenied).description
        #expect(message.contains("chgrp GROUP /etc/syncagent/export.key"))
        #expect(KeyFiles.unreadable("/k", Errno.noSuchFileOrDirectory).description.hasSuffix("directory."))
        #expect(ExportCommand.remedy(for: .permissionDenied).contains("chown -R USER"))
        #expect(ExportCommand.remedy(for: .noSpace).isEmpty)
    }

    @Test(
        "a key is used that its user or root keeps from others",
        arguments: [
            (1000, 0o600, 1000, nil), (1000, 0o640, 1000, .readable), (0, 0o640, 1000, nil),
            (0, 0o644, 1000, .readable), (0, 0o660, 1000, .readable), (1001, 0o640, 1000, .foreign),
            (1001, 0o600, 1000, .foreign), (0, 0o600, 0, nil), (1001, 0o600, 0, nil), (1001, 0o644, 0, .readable),
        ] as [(uid_t, mode_t, uid_t, KeyFiles.Flaw?)])
    func keyOwners(owner: uid_t, mode: mode_t, user: uid_t, flaw: KeyFiles.Flaw?) {
        #expect(KeyFiles.flaw(ofOwner: owner, mode: S_IFREG | mode, forUser: user) == flaw)
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

    /// Verifies the signature of the manifest at the target, as an agent does.
    static func verifySignature(at target: FilePath, by line: String) throws {
        let manifest = try manifest(at: target)
        let path = target.appending(CacheLayout.signature(.of(manifest)))
        try verify(Signature(text: FileBytes.read(path)), of: manifest, by: [PublicKey(line)])
    }
}
