// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("The textfile of metrics")
struct MetricsTextfileTests {
    private static func text(_ path: FilePath) throws -> String {
        try String(contentsOfFile: path.string, encoding: .utf8)
    }

    @Test("a file is replaced as a whole, and everybody may read it")
    func replacement() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending("syncagent.prom")
            #expect(MetricsTextfile.replace(path, by: "a 1\n") == nil)
            let old = try FileDescriptor.open(path, .readOnly)
            defer { try? old.close() }
            #expect(MetricsTextfile.replace(path, by: "a 2\n") == nil)
            #expect(try Self.text(path) == "a 2\n")
            var (before, after) = (stat(), stat())
            try #require(fstat(old.rawValue, &before) == 0 && stat(path.string, &after) == 0)
            #expect(before.st_ino != after.st_ino && after.st_mode & 0o777 == 0o644)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.string) == ["syncagent.prom"])
        }
    }

    @Test("a link in the place of the temporary file leads nowhere")
    func link() async throws {
        try await withTemporaryFolder { folder in
            let victim = folder.appending("victim")
            try write("precious", to: victim)
            try #require(symlink(victim.string, folder.appending(".syncagent.prom.new").string) == 0)
            #expect(MetricsTextfile.replace(folder.appending("syncagent.prom"), by: "a 1\n") == nil)
            #expect(try Self.text(victim) == "precious")
        }
    }

    @Test("a folder that is missing, or a folder in the file's place, is an error that names the file")
    func failures() async throws {
        try await withTemporaryFolder { folder in
            let missing = MetricsTextfile.replace(folder.appending("none/syncagent.prom"), by: "")
            #expect(missing?.errno == .noSuchFileOrDirectory)
            try makeFolder(folder.appending("syncagent.prom"))
            let error = MetricsTextfile.replace(folder.appending("syncagent.prom"), by: "")
            #expect(error?.errno == .isDirectory && error?.path == folder.appending("syncagent.prom").string)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.string) == ["syncagent.prom"])
        }
    }
}
