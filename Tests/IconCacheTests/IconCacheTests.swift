// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import SystemPackage
import TestSupport
import Testing

@Suite("Reading a cache", .timeLimit(.minutes(5)))
struct IconCacheTests {
    /// URLs whose spelling is odd, and some that are the beginning of others.
    private static let urls: [IconURL] = [
        "http://a/1", "http://a/1/2", "http://a/1?q=\"x\"", "http://a/\\", "http://a/\\\"", "http://a/ü/🦊",
        "http://a/%C3%BC", "HTTP://A/1", "http://a/\u{1}", "", "\"icon\": \"http://a/1\"", "http://a/b\n",
    ]

    @Test("an icon is found by its URL exactly as it is spelled", arguments: urls)
    func icon(url: IconURL) async throws {
        try await withCache { published in
            try published.publish(1, ["1.plist": ["http://a/1x": "other", url: "text of \(url)"]])
            let icon = try #require(try published.cache.icon(for: url))
            #expect(try FileBytes.read(icon.path) == Array("text of \(url)".utf8))
            #expect(icon.path.isAbsolute)
            #expect(icon.bytes == "text of \(url)".utf8.count)
            #expect(try published.cache.icon(for: "\(url)/") == nil)
        }
    }

    @Test("an icon keeps its path over a refresh, and has none any more when it is retired")
    func refresh() async throws {
        try await withCache { published in
            try published.publish(1, ["1.plist": ["http://a/1": "one"]])
            let before = try #require(try published.cache.icon(for: "http://a/1"))
            try published.publish(2, ["1.plist": ["http://a/1": "another"]])
            let after = try #require(try published.cache.icon(for: "http://a/1"))
            #expect(before.path == after.path && before.bytes == 3 && after.bytes == 7)
            try published.publish(3, ["1.plist": [:]])
            try published.remove(CacheLayout.byURL("http://a/1"))
            #expect(try published.cache.icon(for: "http://a/1") == nil)
        }
    }

    @Test("the entry of an icon is found by its URL exactly as it is spelled", arguments: urls)
    func entry(url: IconURL) async throws {
        try await withCache { published in
            let all = Self.urls.map { other in
                AppListDocument.App(
                    name: "name of \(url), \"icon\": \"\(url)\"", icon: other, download: "\"icon\": \"\(url)\"",
                    state: other == url ? .ready(Sample.image("x")) : .failed(error: "http-404"))
            }
            for apps in [all, all.reversed(), all.filter { $0.icon == url }] {
                let documents = [
                    Sample.document("a.plist", ["x": nil]), Sample.document("\"icon\": \"\(url)\"", apps: apps),
                ]
                try published.publish(1, documents: documents)
                #expect(try published.cache.entry(forIcon: url) == apps.first { $0.icon == url })
            }
            try published.publish(1, documents: [Sample.document("a.plist", apps: all.filter { $0.icon != url })])
            #expect(try published.cache.entry(forIcon: url) == nil)
        }
    }

    @Test("the entry of an icon that several lists name is that of the first list by name, and there its first")
    func firstEntry() async throws {
        try await withCache { published in
            let apps = ["1", "2"].map { AppListDocument.App(name: $0, icon: "u", download: nil, state: .pending) }
            try published.publish(
                1,
                documents: [
                    Sample.document("c.plist", ["u": nil]), Sample.document("b.plist", apps: apps),
                    Sample.document("a.plist", [:]),
                ])
            #expect(try published.cache.entry(forIcon: "u")?.name == "1")
        }
    }

    @Test("the entry of an icon is found in a document of a later version, and in any layout")
    func otherLayouts() async throws {
        try await withCache { published in
            let apps = [1, 2].map {
                AppListDocument.App(
                    name: "\($0)", icon: IconURL("http://a/\($0)"), download: nil, state: .failed(error: "tls"))
            }
            let text = Sample.document("a.plist", apps: apps).json
            let later = "\"tls\", \"banner\": { \"icon\": \"http://a/2\" }"
            let banner = text.replacing("\"tls\"", with: later, maxReplacements: 1)
            try #require(banner != text)
            let texts = [
                banner, text.replacing("/", with: "\\/").replacing("{ ", with: "{"), text.replacing(": ", with: ":"),
                text.replacing("\n", with: ""), text.replacing("\"icon\": ", with: "\"icon\":\n"),
                banner.replacing("\n", with: ""),
            ]
            for (number, text) in texts.enumerated() {
                try published.publish(number + 1, text: text, of: "a.plist")
                for app in apps {
                    let found = try published.cache.entry(forIcon: app.icon)
                    #expect(found == app, "\(text)")
                }
                #expect(try published.cache.entry(forIcon: "http://a/3") == nil)
            }
        }
    }

    @Test("names of apps are compared byte for byte")
    func names() async throws {
        try await withCache { published in
            let names = ["Caf\u{E9}", "Cafe\u{301}"]
            let apps = names.enumerated().map {
                AppListDocument.App(name: $1, icon: IconURL("http://a/\($0)"), download: nil, state: .pending)
            }
            try published.publish(1, documents: [Sample.document("a.plist", apps: apps)])
            for (name, app) in zip(names, apps) { #expect(try published.cache.entry(forApp: name)?.icon == app.icon) }
        }
    }

    @Test("the newest manifest and the documents it names are read")
    func documents() async throws {
        try await withCache { published in
            try published.publish(1, ["1.plist": ["http://a/1": "one"]])
            let manifest = try published.publish(
                2, ["2.plist": ["http://a/2": "two", "http://a/3": nil], "3.plist": [:]])
            let cache = published.cache
            #expect(try cache.manifest() == manifest)
            #expect(
                try cache.document(of: "2.plist")
                    == Sample.document("2.plist", ["http://a/2": "two", "http://a/3": nil]))
            #expect(try cache.apps(in: "2.plist")?.map(\.icon) == ["http://a/2", "http://a/3"])
            #expect(try cache.apps(in: "3.plist") == [])
            #expect(try cache.document(of: "1.plist") == nil)
            #expect(try cache.apps(in: "1.plist") == nil)
            let image = Sample.image("two")
            #expect(try FileBytes.read(cache.path(of: image)) == Array("two".utf8))
            #expect(cache.path(of: image) == published.path(image.path))
        }
    }

    @Test(
        "a reader finds nothing where nothing was ever published",
        arguments: ["empty", "missing", "missing/below", "file", "file/below"])
    func noCache(name: String) async throws {
        try await withTemporaryFolder { folder in
            try makeFolder(folder.appending("empty"))
            try write("", to: folder.appending("file"))
            let cache = IconCache(at: folder.pushing(FilePath(name)))
            let error = IconCacheError.noCache(path: cache.folder.string)
            #expect(throws: error) { try cache.icon(for: "http://a/1") }
            #expect(throws: error) { try cache.entry(forIcon: "http://a/1") }
            #expect(throws: error) { try cache.manifest() }
            #expect(throws: error) { try cache.document(of: "1.plist") }
            #expect(throws: error) { try cache.snapshot() }
        }
    }

    @Test("a folder that cannot be searched is told from one that has no cache")
    func unreadable() async throws {
        try await withTemporaryFolder { folder in
            let loop = folder.appending("loop")
            try check(symlink("loop", loop.string))
            let cache = IconCache(at: loop)
            let name = loop.pushing(FilePath(CacheLayout.byURL("http://a/1"))).string
            #expect(throws: IconCacheError.unreadable(path: name, errno: .tooManySymbolicLinkLevels)) {
                try cache.icon(for: "http://a/1")
            }
            let manifest = loop.appending(CacheLayout.manifest).string
            let error = IconCacheError.unreadable(path: manifest, errno: .tooManySymbolicLinkLevels)
            #expect(throws: error) { try cache.manifest() }
            #expect(throws: error) { try cache.snapshot() }
        }
    }

    @Test("a cache in which the reader may not write, not even into its files, reads like any other")
    func readOnly() async {
        await #expect(processExitsWith: .success) {
            try await withTemporaryFolder { folder in
                let published = try PublishedCache(at: folder.appending("cache"))
                let manifest = try published.publish(1, ["1.plist": ["http://a/1": "one"]])
                try OwnerRights.without(on: folder) {
                    #expect(throws: Errno.permissionDenied) { try write("", to: published.path("new")) }
                    #expect(throws: Errno.permissionDenied) { try write("", to: published.path("manifest.json")) }
                    #expect(try published.cache.icon(for: "http://a/1") != nil)
                    let snapshot = try published.cache.snapshot()
                    #expect(snapshot.isLeased && snapshot.manifest == manifest)
                    #expect(try snapshot.documents().count == 1)
                    snapshot.end()
                    #expect(try published.cache.entry(forIcon: "http://a/1") != nil)
                }
            }
        }
    }

    @Test(
        "a cache on a read-only mount reads like any other to another user, who is told of changes at once",
        .enabled(if: geteuid() == 0, "mounting a file system takes root's rights"))
    func readOnlyMount() async {
        await #expect(processExitsWith: .success) {
            try await withTemporaryFolder { folder in
                let published = try PublishedCache(at: folder.appending("cache"))
                try published.publish(1, ["1.plist": ["http://a/1": "one"]])
                let view = folder.appending("view")
                for path in [folder, view] {
                    mkdir(path.string, 0o755)
                    try check(chmod(path.string, 0o755))
                }
                guard mount(published.folder.string, view.string, nil, UInt(MS_BIND), nil) == 0 else {
                    print("skipped: here root may not mount a file system")
                    return
                }
                defer { umount2(view.string, CInt(MNT_DETACH)) }
                let flags = UInt(MS_BIND | MS_REMOUNT | MS_RDONLY)
                try check(mount(nil, view.string, nil, flags, nil))
                #expect(throws: Errno.readOnlyFileSystem) { try write("", to: view.appending("new")) }

                try check(seteuid(65534))
                defer { seteuid(0) }
                let cache = IconCache(at: view)
                let icon = try #require(try cache.icon(for: "http://a/1"))
                #expect(try FileBytes.read(icon.path) == Array("one".utf8))
                #expect(try IconMemory(of: cache).data(for: "http://a/1") == Array("one".utf8))
                let snapshot = try cache.snapshot()
                #expect(snapshot.isLeased)
                #expect(try snapshot.documents().count == 1)
                snapshot.end()
                var changes = cache.polling(every: .seconds(86_400)).changes().makeAsyncIterator()
                try await expect(
                    &changes, [.listAdded("1.plist"), .iconReady(url: "http://a/1", image: Sample.image("one"))])
                try check(seteuid(0))
                try published.publish(2, ["2.plist": ["http://a/1": "one"]])
                try check(seteuid(65534))
                try await expect(&changes, [.listRemoved("1.plist"), .listAdded("2.plist")])
            }
        }
    }
}

@Suite("An error of the cache")
struct IconCacheErrorTests {
    @Test("an error of the cache says what to do")
    func words() {
        #expect("\(IconCacheError.noCache(path: "/c"))".contains("start syncagent"))
        #expect("\(IconCacheError.unreadable(path: "/c/m", errno: .permissionDenied))".contains("Permission denied"))
        #expect("\(IconCacheError.damaged(path: "/c/m", reason: "it is torn"))".contains("it is torn"))
        #expect("\(IconCacheError.unknownFormat(path: "/c/m", format: 2))".contains("install a newer version"))
    }

    @Test("an error of the cache names the file whose contents are wrong")
    func file() {
        #expect(IconCacheError(.damaged("it is torn"), in: "/c/m") == .damaged(path: "/c/m", reason: "it is torn"))
        #expect(IconCacheError(.unknownFormat(2), in: "/c/m") == .unknownFormat(path: "/c/m", format: 2))
    }
}
