// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Glibc
import HTTPRules
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("The state over a restart")
struct StateStoreTests {

    private static var trail: FetchTrail? {
        guard let first = try? FetchTarget("https://example.com/b.png"),
            let last = try? FetchTarget("http://10.0.0.1/c.png?“x”")
        else { return nil }
        var hops = [FetchTrail.Hop(first, through: Proxy("p.example:3128")), FetchTrail.Hop(last)]
        hops[0].status = 302
        hops[1].allowedBy = "network.allow"
        return FetchTrail(hops)
    }

    private let memos = [
        IconMemo(
            url: "https://example.com/a.png", image: Digest.of("a"),
            packedResponse: PackedResponse(
                StoredResponse(
                    url: "https://cdn.example/a.png",
                    fields: HTTPFields([("ETag", "W/\"x\""), ("Last-Modified", "Fri, 20 Nov 2026 10:00:00 GMT")]),
                    requestTime: Timestamp(sinceEpoch: .milliseconds(1_795_000_000_001)),
                    responseTime: Timestamp(sinceEpoch: .milliseconds(1_795_000_000_002)))),
            freshUntil: Timestamp(sinceEpoch: .milliseconds(1_795_000_000_123)), failure: nil),
        IconMemo(
            url: "https://example.com/“b”.png", image: nil, freshUntil: Timestamp(sinceEpoch: .zero),
            failure: IconRecord.Failure(
                code: .http(503), message: "the server answered 503", attempts: 3,
                nextAttempt: Timestamp(sinceEpoch: .seconds(1_795_000_100))), trail: Self.trail),
        IconMemo(
            url: "ftp://example.com/c.png", image: nil, freshUntil: .distantPast,
            failure: IconRecord.Failure(code: .url(.schemeRefused), message: "", attempts: 1, nextAttempt: nil)),
        IconMemo(
            url: "https://example.com/d.png", image: nil, freshUntil: .distantPast,
            failure: IconRecord.Failure(
                code: .fetch(.overLimit), message: "", attempts: 1, nextAttempt: nil, imageBytes: 1 << 20)),
    ]

    @Test("a stored failure with an unknown code is forgotten, and everything else is restored")
    func unknownCode() async throws {
        try await withTemporaryFolder { folder in
            let store = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            try await store.apply(MemoChanges(remembered: memos))
            try await store.close()
            let database = try Database(folder.appending("state.sqlite"))
            try database.execute("UPDATE memos SET json = replace(json, '\"http-503\"', '\"no-such-code\"')")
            try database.close()
            let again = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            let icons = Array(again.remembered.icons)
            #expect(Set(icons.map(\.url)) == Set(memos.map(\.url)))
            #expect(Set(icons.compactMap(\.failure?.code)) == [.url(.schemeRefused), .fetch(.overLimit)])
            try await again.close()
        }
    }

    @Test("memos come back as they were, the newest of each URL, without the forgotten ones")
    func remember() async throws {
        try await withTemporaryFolder { folder in
            let store = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            try await store.apply(MemoChanges(remembered: memos))
            try await store.close()
            let again = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            let byURL = { (memos: [IconMemo]) in memos.sorted { $0.url < $1.url } }
            #expect(byURL(Array(again.remembered.icons)) == byURL(memos))
            try await again.apply(MemoChanges(forgotten: [memos[0].url]))
            try await again.close()
            let rest = try StateStore(folder: folder, clock: AgentClock(), logger: .silent).remembered.icons
            #expect(byURL(Array(rest)) == byURL(Array(memos.dropFirst())))
        }
    }

    @Test("lists that were read come back")
    func lists() async throws {
        try await withTemporaryFolder { folder in
            let memos = ["a", "b"].map { ListMemo(list: "\($0).plist", sha256: Digest.of($0), rules: "0.1.0\nicon") }
            let first = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            var changes = MemoChanges(remembered: self.memos)
            for memo in memos { changes.lists[memo.list] = memo }
            try await first.apply(changes)
            try await first.close()
            let store = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            #expect(store.remembered.lists == memos)
            changes = MemoChanges()
            changes.lists = ["a.plist": nil]
            try await store.apply(changes)
            try await store.close()
            #expect(try StateStore(folder: folder, clock: AgentClock(), logger: .silent).remembered.lists == [memos[1]])
        }
    }

    @Test("rejections of lists are restored")
    func rejections() async throws {
        try await withTemporaryFolder { folder in
            let memos = [true, false].map {
                RejectionMemo(list: "\($0).plist", code: "empty-file", message: "It's “empty”.", isKept: $0)
            }
            var changes = MemoChanges()
            for memo in memos { changes.rejections[memo.list] = memo }
            let first = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            try await first.apply(changes)
            try await first.close()
            let store = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            #expect(Set(store.remembered.rejections) == Set(memos))
            changes = MemoChanges()
            changes.rejections = ["true.plist": nil]
            try await store.apply(changes)
            try await store.close()
            let last = try StateStore(folder: folder, clock: AgentClock(), logger: .silent).remembered.rejections
            #expect(last == [memos[1]])
        }
    }

    @Test("origins that are not well, and a pause, come back")
    func originsAndPause() async throws {
        try await withTemporaryFolder { folder in
            let memo = OriginMemo(
                origin: "http://a", health: OriginHealth(failures: 5, waitsUntil: Timestamp(sinceEpoch: .seconds(1))))
            var changes = MemoChanges()
            let other = OriginMemo(origin: "http://b", health: OriginHealth(failures: 1))
            changes.origins = ["http://a": memo, "http://b": other]
            changes.values = RememberedValues(isPaused: true)
            let first = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            try await first.apply(changes)
            try await first.close()
            changes = MemoChanges()
            changes.origins = ["http://b": nil]
            let store = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            #expect(store.remembered.values.isPaused && store.remembered.origins.count == 2)
            try await store.apply(changes)
            try await store.close()
            let again = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            #expect(again.remembered.values.isPaused && again.remembered.origins == [memo])
            again.forgetRemembered()
            #expect(!again.remembered.values.isPaused && again.remembered.origins.isEmpty, "nothing of it is kept")
            changes.values = RememberedValues()
            try await again.apply(changes)
            try await again.close()
            #expect(try !StateStore(folder: folder, clock: AgentClock(), logger: .silent).remembered.values.isPaused)
        }
    }

    @Test("muted URLs and lists come back; a database of a version that did not mute has none")
    func mutes() async throws {
        try await withTemporaryFolder { folder in
            let mutes = [Mute(.list("a.plist")), Mute(.icon("https://a"), until: Timestamp(sinceEpoch: .seconds(9)))]
            var changes = MemoChanges()
            changes.values = RememberedValues(isPaused: true)
            changes.values?.mutes = mutes
            let first = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            try await first.apply(changes)
            try await first.close()
            let store = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            #expect(store.remembered.values.mutes == mutes)
            try await store.close()
            let database = try Database(folder.appending(StateStore.files[0]))
            try database.execute("UPDATE memos SET json = json_remove(json, '$.values.mutes') WHERE kind = 'values'")
            try database.close()
            let earlier = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            #expect(earlier.lossAtStart == nil && earlier.remembered.values == RememberedValues(isPaused: true))
        }
    }

    @Test("the lists folder comes back as the last one that was stored")
    func listsFolder() async throws {
        try await withTemporaryFolder { folder in
            var changes = MemoChanges()
            let identities = [
                FolderIdentity(fileSystem: 1, device: 2, handle: [3]),
                FolderIdentity(fileSystem: .max, device: .max, handle: [0, 255]),
            ]
            for identity in identities {
                changes.values = RememberedValues(folder: identity)
                let store = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
                try await store.apply(changes)
                try await store.close()
            }
            let store = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            #expect(store.remembered.values.folder == identities[1])
            try await store.close()
        }
    }

    @Test("the numbers of the newest and the newest purged generation come back, whatever else is stored later")
    func newestGeneration() async throws {
        try await withTemporaryFolder { folder in
            for (number, expected) in [(nil, 0), (7, 7), (nil, 7), (12, 12)] as [(Int?, Int)] {
                var changes = MemoChanges(remembered: memos)
                changes.values = number.map { RememberedValues(newestGeneration: $0, purged: $0) }
                let store = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
                try await store.apply(changes)
                try await store.close()
                let found = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
                let values = found.remembered.values
                #expect(values.newestGeneration == expected && values.purged ?? 0 == expected)
                try await found.close()
            }
        }
    }

    @Test("grace periods and a held eviction are restored with their age")
    func ages() async throws {
        try await withTemporaryFolder { folder in
            let clock = AgentClock()
            var changes = MemoChanges()
            changes.superseded = [4: clock.now + .seconds(-300), 5: clock.now]
            changes.values = RememberedValues(
                holds: [(7200, 4), (3600, 5)].map { age, generation in
                    EvictionBrake.Hold(
                        since: clock.now + .seconds(-age), generation: generation, images: 30, total: 40)
                })
            let first = try StateStore(folder: folder, clock: clock, logger: .silent)
            try await first.apply(changes)
            try await first.close()

            let later = AgentClock()
            let store = try StateStore(folder: folder, clock: later, logger: .silent)
            let age = later.now - (try #require(store.remembered.superseded[4]))
            // The second half of each range is for a machine that is busy.
            #expect(age >= .seconds(300) && age < .seconds(600))
            let restored = store.remembered.values.holds
            try #require(restored.map(\.generation) == [4, 5])
            let ages = restored.map { later.now - $0.since }
            #expect(ages[0] >= .milliseconds(7_199_999) && ages[0] < .seconds(10_800))
            #expect(ages[1] >= .milliseconds(3_599_999) && ages[1] < .seconds(7200))
            #expect(restored.allSatisfy { $0.images == 30 && $0.total == 40 && !$0.isConfirmed })

            changes = MemoChanges()
            changes.superseded = [4: nil]
            changes.values = RememberedValues()
            try await store.apply(changes)
            try await store.close()
            let rest = try StateStore(folder: folder, clock: AgentClock(), logger: .silent).remembered
            #expect(Array(rest.superseded.keys) == [5] && rest.values.holds.isEmpty)
        }
    }

    @Test("a stored age grows by the time awake since, in the same boot only")
    func boots() {
        let clock = AgentClock()
        let now = AgentClock.timeAwake.milliseconds
        let cases: [(StoredAge, seconds: Int64)] = [
            (StoredAge(elapsed: 5000, boot: BootID.current, awake: now - 7000), 12),
            (StoredAge(elapsed: 5000, boot: "another", awake: now - 7000), 5),
            (StoredAge(elapsed: 5000, boot: nil, awake: now - 7000), 5),
            // Nobody can have written these.
            (StoredAge(elapsed: 5000, boot: BootID.current, awake: now + 1_000_000), 5),
            (StoredAge(elapsed: -5000, boot: BootID.current, awake: now), 0),
            (StoredAge(elapsed: .max, boot: BootID.current, awake: .min), 36_525 * 86_400 + now / 1000),
        ]
        for (age, seconds) in cases {
            let passed = (clock.now - age.time(by: clock)).milliseconds
            #expect((seconds * 1000 - 1...seconds * 1000 + 6000).contains(passed), "\(age): \(passed) ms")
        }
    }

    @Test(
        "a damaged database is set aside, and a new one begun", arguments: ["nonsense", "SQLite format 3\u{0}nonsense"])
    func damaged(text: String) async throws {
        try await withTemporaryFolder { folder in
            let file = try CacheFolder(folder)
            try file.write(String(repeating: text, count: 1000).utf8, to: "state.sqlite", mode: .ownerReadWrite)
            let store = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            #expect(store.remembered.icons.isEmpty && store.lossAtStart == .damaged)
            #expect(try await store.apply(MemoChanges(remembered: memos)) == nil)
            let aside = folder.appending("state.sqlite.damaged")
            #expect(try file.entry("state.sqlite.damaged") != nil && store.damagedFile == aside)
            try #require(unlink(aside.string) == 0)
            #expect(try await store.apply(MemoChanges()) == nil && store.damagedFile == nil)
        }
    }

    /// Stores so many icons in a new database, with URLs that are longer than so many bytes, and closes it.
    private func fill(_ folder: FilePath, _ count: Int, bytesEach: Int = 0) async throws -> [IconMemo] {
        let end = String(repeating: "x", count: bytesEach)
        let many = (0..<count).map { number in
            var memo = memos[0]
            memo.url = "\(memo.url)?\(number)\(end)"
            return memo
        }
        let store = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
        #expect(try await store.apply(MemoChanges(remembered: many)) == nil)
        try await store.close()
        return many
    }

    @Test("damage in the middle of the database is found, and it is set aside")
    func damagedPages() async throws {
        try await withTemporaryFolder { folder in
            _ = try await fill(folder, 1000)
            let file = try FileDescriptor.open(folder.appending("state.sqlite"), .readWrite)
            try file.closeAfter {
                for page in stride(from: 4, to: 60, by: 4) {
                    try file.writeAll(toAbsoluteOffset: Int64(page * 4096), [UInt8](repeating: 0xA5, count: 4096))
                }
            }
            let store = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            #expect(store.remembered.icons.isEmpty)
            #expect(try CacheFolder(folder).entry("state.sqlite.damaged") != nil)
        }
    }

    @Test("a database that is damaged while it is in use is set aside, and what it is given is stored")
    func damagedInUse() async throws {
        try await withTemporaryFolder { folder in
            // More than the 2 MiB that SQLite keeps in memory.
            let many = try await fill(folder, 4000, bytesEach: 2000)
            let store = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            #expect(store.remembered.icons.count == many.count)
            let file = try FileDescriptor.open(folder.appending("state.sqlite"), .readWrite)
            try file.closeAfter {
                let end = try file.seek(offset: 0, from: .end)
                for offset in stride(from: 4096, to: end, by: 4096) {
                    try file.writeAll(toAbsoluteOffset: offset, [UInt8](repeating: 0xA5, count: 4096))
                }
            }
            #expect(try await store.apply(MemoChanges(remembered: memos + many.prefix(1000))) == .damaged)
            #expect(try CacheFolder(folder).entry("state.sqlite.damaged") != nil)
            #expect(try await store.apply(MemoChanges(forgotten: [memos[0].url])) == nil)
            try await store.close()
            let again = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            #expect(again.remembered.icons.count == memos.count - 1 + 1000)
        }
    }

    @Test(
        "a database that is removed while it is in use is noticed, and a new one begun",
        arguments: ["rm state/*", "rm -r state", "mv state aside; mkdir state", "mv state/state.sqlite aside"])
    func removedInUse(script: String) async throws {
        try await withTemporaryFolder { above in
            let folder = above.appending("state")
            try makeFolder(folder)
            let log = RecordedLog()
            let store = try StateStore(folder: folder, clock: AgentClock(), logger: log.logger)
            #expect(try await store.apply(MemoChanges(remembered: [memos[0]])) == nil)
            try #require(try await Program.run("sh", "-ec", "cd '\(above)'; \(script)").code == 0)
            // What was stored before is to be stored again; that shows where there is nothing to store.
            #expect(try await store.apply(MemoChanges()) == .removed)
            #expect(try await store.apply(MemoChanges(remembered: [memos[1]])) == nil)
            #expect(try await store.apply(MemoChanges(remembered: [memos[2]])) == nil)
            #expect(log.messages == ["state database removed: starting with a new one"])
            try await store.close()
            let again = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            #expect(Set(again.remembered.icons.map(\.url)) == [memos[1].url, memos[2].url])
        }
    }

    @Test("a removed state is reported once there is a new one, however long that took")
    func removedForLong() async throws {
        try await withTemporaryFolder { above in
            let folder = above.appending("state")
            try makeFolder(folder)
            let store = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            try #require(rename(folder.string, above.appending("aside").string) == 0)
            // No folder can be made there.
            try write("a file", to: folder)
            for _ in 0..<2 { await #expect(throws: (any Error).self) { try await store.apply(MemoChanges()) } }
            try #require(unlink(folder.string) == 0)
            #expect(try await store.apply(MemoChanges(remembered: memos)) == .removed)
            #expect(try await store.apply(MemoChanges()) == nil && store.lossAtStart == nil)
        }
    }

    @Test("a pipe in the place of the state database is not read, and nothing waits for it", .timeLimit(.minutes(5)))
    func pipe() async throws {
        try await withTemporaryFolder { folder in
            try #require(mkfifo(folder.appending("state.sqlite").string, 0o600) == 0)
            #expect(StateStore.read(folder: folder) == nil)
        }
    }

    @Test("the state database is private, even one that others could read")
    func isPrivate() async throws {
        try await withTemporaryFolder { folder in
            let file = try CacheFolder(folder)
            try file.write([], to: "state.sqlite", mode: FilePermissions(rawValue: 0o644))
            let store = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            try await store.apply(MemoChanges(remembered: memos))
            let names = try file.names(in: ".").map(\.name)
            #expect(names.count > 1)
            for name in names {
                let status = try Stat(folder.appending(name), followTargetSymlink: false)
                #expect(status.permissions == .ownerReadWrite, "\(name)")
            }
        }
    }

    @Test("a state folder that cannot hold a database is an error that names it")
    func unusable() async throws {
        try await withTemporaryFolder { folder in
            try makeFolder(folder.appending("state.sqlite"))
            let error = #expect(throws: FileError.self) {
                try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            }
            #expect(error?.path == folder.appending("state.sqlite").string)
        }
    }
}

@Suite("The meter of sleep")
struct SleepMeterTests {
    @Test("sleep is the time that only one clock counts, reported once, in pieces of a second or more")
    func reads() {
        // Times since the boot and awake, in milliseconds, of one look after the other.
        let looks: [(sinceBoot: Int, awake: Int, told: Int?)] = [
            (1000, 1000, nil), (5000, 5000, nil), (28_805_000, 5000, 28_800_000), (28_806_000, 6000, nil),
            // A look that took long between the two clocks.
            (28_807_000, 7900, nil), (28_808_000, 8000, nil),
            // Short ones, together.
            (28_808_600, 8000, nil), (28_809_200, 8000, 1200), (28_810_200, 9000, nil),
        ]
        var meter = SleepMeter(asleep: .zero)
        for (sinceBoot, awake, told) in looks {
            let time = meter.read(asleep: .milliseconds(sinceBoot - awake))
            #expect(time == told.map { .milliseconds($0) }, "\(sinceBoot) ms")
        }
    }

    @Test("a system that is awake did not sleep, and a new meter knows nothing of earlier sleep")
    func awake() {
        var meter = SleepMeter()
        #expect(meter.read() == nil)
        var late = SleepMeter(asleep: .seconds(99_990))
        #expect(late.read(asleep: .seconds(99_990)) == nil)
    }
}
