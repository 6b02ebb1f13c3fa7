// SPDX-License-Identifier: Apache-2.0
import Fleet
import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@Suite("Other programs for signatures")
struct InteroperabilityTests {
    private static let message = Array("{ \"format\": 1, \"generation\": 42 }\n".utf8)

    @Test(
        "minisign verifies what is signed here, and signs with a key made here",
        .enabled(if: Tool.areInstalled("minisign"), "minisign is not installed"))
    func minisignReadsOurs() async throws {
        try await withTemporaryFolder { folder in
            let key = SecretKey.sample(1)
            try Self.write(key, in: folder)
            let signature = key.sign(Self.message, trustedComment: "generation 42")
            try Data(signature.text).write(to: URL(filePath: folder.appending("m.minisig").string))
            let shown = try await Program.run(
                "minisign", "-V", "-m", folder.appending("m").string, "-p", folder.appending("k.pub").string)
            #expect(shown.code == 0 && shown.output.contains("Trusted comment: generation 42"), "\(shown)")
            try await Tool.run(
                "minisign", "-S", "-l", "-s", folder.appending("k.key").string, "-m", folder.appending("m").string,
                "-t", "theirs")
            let theirs = try Signature(text: Self.read(folder.appending("m.minisig")))
            try verify(theirs, of: Self.message, by: [key.publicKey])
        }
    }

    @Test(
        "keys and signatures of minisign are read, and those of hashes refused",
        .enabled(if: Tool.areInstalled("minisign"), "minisign is not installed"))
    func minisignWritesTheirs() async throws {
        try await withTemporaryFolder { folder in
            let (secret, open) = (folder.appending("k.key").string, folder.appending("k.pub").string)
            let message = folder.appending("m").string
            try await Tool.run("minisign", "-G", "-W", "-p", open, "-s", secret)
            try Data(Self.message).write(to: URL(filePath: message))
            try await Tool.run("minisign", "-S", "-l", "-s", secret, "-m", message)
            let key = try SecretKey(file: Self.read(FilePath(secret)))
            let lines = String(decoding: try Self.read(FilePath(open)), as: UTF8.self).split(separator: "\n")
            #expect(try PublicKey(String(lines[1])) == key.publicKey)
            // It leaves out leading zeros.
            #expect(lines[0].hasSuffix(" \("\(key.publicKey.id)".drop { $0 == "0" })"))
            let signature = try Signature(text: Self.read(folder.appending("m.minisig")))
            try verify(signature, of: Self.message, by: [key.publicKey])
            try await Tool.run("minisign", "-S", "-s", secret, "-m", message)
            let hashed = try Self.read(folder.appending("m.minisig"))
            #expect(throws: SignatureError.prehashed) { try Signature(text: hashed) }
        }
    }

    @Test(
        "signify verifies what is signed here",
        .enabled(if: Tool.areInstalled("signify-openbsd"), "signify-openbsd is not installed"))
    func signify() async throws {
        try await withTemporaryFolder { folder in
            let key = SecretKey.sample(1)
            try Self.write(key, in: folder)
            let signature = key.sign(Self.message, trustedComment: "generation 42")
            try Data(signature.text).write(to: URL(filePath: folder.appending("m.minisig").string))
            let command = [
                "signify-openbsd", "-V", "-p", folder.appending("k.pub").string, "-m", folder.appending("m").string,
                "-x", folder.appending("m.minisig").string,
            ]
            let accepted = try await Program.run(command)
            #expect(accepted.code == 0, "\(accepted)")
            try Data(Self.message + [0]).write(to: URL(filePath: folder.appending("m").string))
            let refused = try await Program.run(command)
            #expect(refused.code != 0, "\(refused)")
        }
    }

    /// Writes a key pair and the message.
    private static func write(_ key: SecretKey, in folder: FilePath) throws {
        try Data(key.file.utf8).write(to: URL(filePath: folder.appending("k.key").string))
        try Data(key.publicKey.file.utf8).write(to: URL(filePath: folder.appending("k.pub").string))
        try Data(message).write(to: URL(filePath: folder.appending("m").string))
    }

    private static func read(_ path: FilePath) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: path.string)))
    }
}
