// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import IconCache
import SystemPackage
import Testing

@Suite("The default path of a cache")
struct DefaultPathTests {
    private static let system: FilePath = "/var/cache/syncagent"

    @Test(
        "the default path of a cache is the user's own, and the system's where only that is there",
        arguments: [
            (["XDG_CACHE_HOME": "/x", "HOME": "/h"], [], "/x/syncagent"),
            (["XDG_CACHE_HOME": "/x", "HOME": "/h"], [system], system),
            (["XDG_CACHE_HOME": "/x", "HOME": "/h"], [system, "/x/syncagent"], "/x/syncagent"),
            (["XDG_CACHE_HOME": "/x", "HOME": "/h"], [system, "/h/.cache/syncagent"], system),
            (["XDG_CACHE_HOME": "/x/"], [], "/x/syncagent"),
            (["HOME": "/h"], [], "/h/.cache/syncagent"),
            (["HOME": "/h"], ["/h/.cache/syncagent", system], "/h/.cache/syncagent"),
            (["XDG_CACHE_HOME": "relative", "HOME": "/h"], [], "/h/.cache/syncagent"),
            (["XDG_CACHE_HOME": "", "HOME": "/h"], [], "/h/.cache/syncagent"),
            (["XDG_CACHE_HOME": "relative", "HOME": "relative"], [], system),
            (["HOME": ""], [], system),
            ([:], [], system),
        ] as [([String: String], Set<FilePath>, FilePath)])
    func path(environment: [String: String], folders: Set<FilePath>, expected: FilePath) {
        let path = IconCache.defaultPath(environment: { environment[$0] }, exists: folders.contains)
        #expect(path == expected)
    }

    @Test("the default path of a cache is absolute here too, and what a cache without a folder takes")
    func here() {
        #expect(IconCache.defaultPath.isAbsolute)
        #expect(IconCache().folder == IconCache.defaultPath)
    }

    @Test("a folder's relative path counts from the current folder")
    func relative() {
        let here = FilePath(FileManager.default.currentDirectoryPath)
        #expect(IconCache(at: "some/cache").folder == here.appending("some").appending("cache"))
        #expect(IconCache(at: "/some/cache").folder == "/some/cache")
    }
}
