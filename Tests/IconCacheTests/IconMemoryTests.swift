// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import SystemPackage
import TestSupport
import Testing

@Suite("The images in memory", .timeLimit(.minutes(5)))
struct IconMemoryTests {
    @Test(
        "images in memory are not opened again as long as they are the same files",
        .enabled(if: OpeningGate.isSupported, "this file system has no leases on files"))
    func reuse() async throws {
        try await withCache { published in
            try published.publish(1, ["a": ["u": "1", "v": "2"]])
            let memory = IconMemory(of: published.cache)
            #expect(try memory.data(for: "u") == Array("1".utf8))
            let gate = try OpeningGate(at: published.path(CacheLayout.byURL("u")))
            #expect(try memory.data(for: "u") == Array("1".utf8))
            #expect(try memory.data(for: "v") == Array("2".utf8))
            #expect(try memory.data(for: "u") == Array("1".utf8))
            #expect(gate.isUntouched)
            #expect(memory.cost == 2)
        }
    }

    @Test("images in memory follow the folder: replaced when refreshed, gone when retired")
    func identity() async throws {
        try await withCache { published in
            let memory = IconMemory(of: published.cache)
            try published.publish(1, ["a": ["u": "1", "v": nil]])
            for generation in 2...10 {
                #expect(try memory.data(for: "u") == Array("\(generation - 1)".utf8))
                #expect(try memory.data(for: "v") == nil)
                try published.publish(generation, ["a": ["u": "\(generation)", "v": nil]])
            }
            #expect(memory.cost == 1)
            try published.remove(CacheLayout.byURL("u"))
            #expect(try memory.data(for: "u") == nil)
            #expect(memory.cost == 0)
            try published.publish(11, ["a": ["u": "11"]])
            #expect(try memory.data(for: "u") == Array("11".utf8))
        }
    }

    @Test("images in memory are distinguished by the bytes of their URLs")
    func spelling() async throws {
        try await withCache { published in
            let spellings: [IconURL] = ["http://a/\u{E9}", "http://a/e\u{301}"]
            #expect(spellings[0].text == spellings[1].text)
            try published.publish(1, ["a": [spellings[0]: "1"], "b": [spellings[1]: "22"]])
            let memory = IconMemory(of: published.cache)
            for _ in 1...2 {
                #expect(try memory.data(for: spellings[0]) == Array("1".utf8))
                #expect(try memory.data(for: spellings[1]) == Array("22".utf8))
            }
            #expect(memory.cost == 3)
        }
    }

    @Test("images in memory stay within the limit; a larger one is given, and not kept")
    func limit() async throws {
        try await withCache { published in
            let large = String(repeating: "x", count: 200_000)
            try published.publish(1, ["a": ["1": "1111", "2": "2222", "3": "3333", "large": large]])
            let memory = IconMemory(of: published.cache, costLimit: 10)
            for (url, cost): (IconURL, Int) in [("1", 4), ("2", 8), ("large", 8), ("3", 8), ("none", 8), ("2", 8)] {
                let image = try memory.data(for: url)
                #expect((image == nil) == (url == "none"))
                #expect(memory.cost == cost)
            }
            #expect(try memory.data(for: "large") == Array(large.utf8))
            let all = IconMemory(of: published.cache)
            #expect(try all.data(for: "large") == Array(large.utf8))
            #expect(all.cost == 200_000 && all.costLimit == 33_554_432)
            let none = IconMemory(of: published.cache, costLimit: 0)
            #expect(try none.data(for: "1") == Array("1111".utf8))
            #expect(none.cost == 0)
        }
    }

    @Test("images in memory are forgotten when they are purged, and read anew")
    func purge() async throws {
        try await withCache { published in
            try published.publish(1, ["a": ["u": "1", "v": "2"]])
            let memory = IconMemory(of: published.cache)
            for _ in 1...2 {
                #expect(try memory.data(for: "u") == Array("1".utf8))
                #expect(try memory.data(for: "v") == Array("2".utf8))
                #expect(memory.cost == 2)
                memory.purge()
                #expect(memory.cost == 0)
            }
        }
    }

    @Test("images in memory are not given for a folder that is no cache any more, or cannot be searched")
    func errors() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending("cache")
            let memory = IconMemory(of: IconCache(at: path))
            let none = IconCacheError.noCache(path: path.string)
            #expect(throws: none) { try memory.data(for: "u") }
            try PublishedCache(at: path).publish(1, ["a": ["u": "1"]])
            #expect(try memory.data(for: "u") == Array("1".utf8))
            try check(rename(path.string, folder.appending("away").string))
            #expect(throws: none) { try memory.data(for: "u") }
            try check(symlink("cache", path.string))
            let name = path.pushing(FilePath(CacheLayout.byURL("u"))).string
            let loop = IconCacheError.unreadable(path: name, errno: .tooManySymbolicLinkLevels)
            #expect(throws: loop) { try memory.data(for: "u") }
            try check(unlink(path.string))
            try check(rename(folder.appending("away").string, path.string))
            #expect(try memory.data(for: "u") == Array("1".utf8))
        }
    }

    @Test("images in memory are never older than the generation at the time of the request")
    func concurrency() async throws {
        try await withCache { published in
            try published.publish(1, ["a": ["u": "1", "v": "1"]])
            let memory = IconMemory(of: published.cache, costLimit: 3)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for generation in 2...20 {
                        try published.publish(generation, ["a": ["u": "\(generation)", "v": "\(generation)"]])
                    }
                }
                for url: IconURL in ["u", "u", "v", "v"] {
                    group.addTask {
                        var given = 0
                        while given < 20 {
                            let least = max(given, try published.cache.manifest().generation)
                            let image = try #require(try memory.data(for: url))
                            given = try #require(Int(String(decoding: image, as: UTF8.self)))
                            #expect(given >= least)
                            #expect(memory.cost <= 3)
                            await Task.yield()
                        }
                    }
                }
                group.addTask {
                    while try published.cache.manifest().generation < 20 {
                        memory.purge()
                        await Task.yield()
                    }
                }
                try await group.waitForAll()
            }
            #expect(try OpenFiles(folder: published.folder).count() == 0)
        }
    }
}
