// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import IconCache

@Suite("The watch on a manifest", .timeLimit(.minutes(5)))
struct ManifestWatchTests {
    /// So long that no timer has a part in the test.
    private static let never = Duration.seconds(86_400)

    @Test("the watch on a manifest hints at each manifest that is published")
    func publications() async throws {
        try await withCache { published in
            let watch = ManifestWatch(published.folder, pollingEvery: Self.never)
            defer { withExtendedLifetime(watch) {} }
            var hints = watch.hints.makeAsyncIterator()
            for generation in 1...50 {
                try published.publish(generation, [:])
                #expect(await hints.next() != nil)
            }
        }
    }

    @Test("the watch on a manifest hints by the clock until there is a cache, then at once")
    func laterFolder() async throws {
        try await withTemporaryFolder { folder in
            let cache = folder.appending("cache")
            let watch = ManifestWatch(cache, pollingEvery: .milliseconds(5))
            defer { withExtendedLifetime(watch) {} }
            var hints = watch.hints.makeAsyncIterator()
            #expect(await hints.next() != nil)
            _ = try PublishedCache(at: cache)
            let files = OpenFiles(folder: cache)
            try await waitUntil { try files.inotifyCount() == 1 }
            #expect(await hints.next() != nil)
            try cache.move(to: folder.appending("moved"))
            _ = try PublishedCache(at: cache)
            try await waitUntil { try files.inotifyCount() == 1 }
            #expect(try OpenFiles(folder: folder.appending("moved")).inotifyCount() == 0)
        }
    }

    @Test("the watch on a manifest is one file, which is closed with the last reference")
    func end() async throws {
        try await withCache { published in
            let files = OpenFiles(folder: published.folder)
            var watches = (0..<10).map { _ in ManifestWatch(published.folder, pollingEvery: Self.never) }
            #expect(try files.inotifyCount() == 10)
            watches.removeLast(9)
            try await waitUntil { try files.inotifyCount() == 1 }
            watches = []
            try await waitUntil { try files.inotifyCount() == 0 }
        }
    }

    @Test("the watch on a manifest gives its hints by the clock alone if the kernel grants no inotify instance")
    func refused() async {
        await #expect(processExitsWith: .success) {
            try await withTemporaryFolder { folder in
                // Dispatch opens files of its own for the first timer.
                let first = ManifestWatch(folder, pollingEvery: .milliseconds(1))
                for await _ in first.hints { break }

                var limit = rlimit()
                try check(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit))
                var none = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
                try check(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none))
                #expect(Inotify(folder) == nil)
                let sequence = IconCache(at: folder.appending("cache")).polling(every: .milliseconds(1)).changes()
                var changes = sequence.makeAsyncIterator()
                try check(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit))

                let published = try PublishedCache(at: folder.appending("cache"))
                for number in 1...20 {
                    try published.publish(number, ["\(number)": [:]])
                    let expected: [Change] = [
                        number > 1 ? .listRemoved("\(number - 1)") : nil, .listAdded("\(number)"),
                    ]
                    .compactMap { $0 }
                    for change in expected { #expect(try await changes.next() == change) }
                }
                #expect(try OpenFiles(folder: published.folder).inotifyCount() == 0)
            }
        }
    }
}
