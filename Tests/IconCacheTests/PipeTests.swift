// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import IconCache
import SystemPackage
import TestSupport
import Testing

@Suite("A pipe in the place of a file", .timeLimit(.minutes(5)))
struct PipeTests {
    private static let lists: KeyValuePairs<ListName, KeyValuePairs<IconURL, String?>> = [
        "1.plist": ["http://a/1": "one"]
    ]

    /// Puts a named pipe in the place of a file.
    private func putPipe(at path: FilePath) throws {
        try #require(unlink(path.string) == 0)
        try #require(mkfifo(path.string, 0o644) == 0)
    }

    private func error(at path: FilePath) -> IconCacheError {
        .damaged(path: path.string, reason: "it is not a regular file")
    }

    @Test("a pipe in the place of a file is no manifest, and nothing waits for it")
    func manifest() async throws {
        try await withCache { published in
            try published.publish(1, Self.lists)
            let path = published.path(CacheLayout.manifest)
            try putPipe(at: path)
            #expect(throws: error(at: path)) { try published.cache.manifest() }
            #expect(throws: error(at: path)) { try published.cache.snapshot() }
        }
    }

    @Test("a pipe in the place of a file is no list document")
    func document() async throws {
        try await withCache { published in
            let manifest = try published.publish(1, Self.lists)
            let path = published.path(try #require(manifest.lists["1.plist"]).document)
            try putPipe(at: path)
            #expect(throws: error(at: path)) { try published.cache.document(of: "1.plist") }
        }
    }

    @Test("a pipe in the place of a file is no image")
    func image() async throws {
        try await withCache { published in
            try published.publish(1, Self.lists)
            let path = published.path(CacheLayout.byURL("http://a/1"))
            try putPipe(at: path)
            let memory = IconMemory(of: published.cache)
            #expect(throws: error(at: path)) { try memory.data(for: "http://a/1") }
        }
    }
}
