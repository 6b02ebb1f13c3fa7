// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Testing

@testable import AgentSettings
@testable import SyncPlan

@Suite("The lists folder")
struct ListsFolderTests {
    private static let other = FolderIdentity(fileSystem: 2, device: 2, handle: [2])
    private static let third = FolderIdentity(fileSystem: 3, device: 3, handle: [3])

    /// A look at the folder.
    private static func listed(
        _ present: Set<ListName>, adopted: Set<ListName> = [], identity: FolderIdentity = Sample.folder.identity,
        hasUnread: Bool = false
    ) -> ListScan {
        var folder = Sample.folder
        (folder.identity, folder.adopted) = (identity, adopted)
        folder.hasUnread = hasUnread
        return .listed(folder, present: present, changed: [:])
    }

    @Test(
        "a scan says which lists are gone, or nothing about them",
        arguments: [
            // What the look shows, whether it counts, and whether the folder is read.
            (.unavailable(reason: "gone"), false, false),
            (listed([]), true, true), (listed(["a.plist", "b.plist"]), true, true),
            (listed(["a.plist"], identity: other), true, true), (listed([], identity: other), false, false),
            (listed(["a.plist"], hasUnread: true), true, false),
        ] as [(ListScan, Bool, Bool)])
    func looks(scan: ListScan, counts: Bool, isRead: Bool) {
        var folder = ListsFolder(Settings().lists, identity: Sample.folder.identity)
        #expect(!folder.isScanned && !folder.isRead)
        let gone = folder.record(scan, known: ["a.plist", "b.plist"], at: Sample.start)
        #expect((gone != nil) == counts && folder.isRead == isRead)
        #expect(folder.isScanned && folder.lastScan == Sample.start)
        #expect((folder.unavailable == nil) == counts)
    }

    @Test("a list is gone when a later scan misses it too, and that scan is requested once")
    func missing() {
        var folder = ListsFolder(Settings().lists, identity: Sample.folder.identity)
        #expect(folder.record(Self.listed(["a.plist"]), known: ["a.plist", "b.plist"], at: Sample.start) == [])
        #expect(folder.missing == ["b.plist"] && !folder.isSettled)
        let due = Sample.start + AbsentLists.shortest
        #expect(folder.nextLook == due && !folder.beginLook(at: due + .milliseconds(-1)))
        #expect(folder.beginLook(at: due) && !folder.beginLook(at: due) && folder.nextLook == nil)
        #expect(folder.record(Self.listed(["a.plist"]), known: ["a.plist", "b.plist"], at: due) == ["b.plist"])
        #expect(folder.isSettled)
    }

    @Test("an unread list is waited for until the folder is listed again, or gone", arguments: [true, false])
    func unread(isThere: Bool) {
        var folder = ListsFolder(Settings().lists, identity: Sample.folder.identity)
        _ = folder.record(Self.listed(["a.plist"]), known: [], at: Sample.start)
        folder.isReading = true
        #expect(!folder.isSettled)
        _ = folder.record(isThere ? Self.listed([]) : .unavailable(reason: "gone"), known: [], at: Sample.start)
        #expect(folder.isSettled && !folder.isReading)
        folder.record(shortage: "no memory")
        #expect(!folder.isSettled && folder.doubt != nil, "it is read again when there is memory")
        #expect(folder.isSettledOnce, "a single run does not wait for memory")
        _ = folder.record(Self.listed(["a.plist"], hasUnread: true), known: [], at: Sample.start)
        folder.record(shortage: "no memory")
        #expect(!folder.isSettledOnce)
    }

    @Test("an empty folder is in doubt where its list had the name of one of an upstream, unless that list was removed")
    func overridden() {
        let record = { (folder: inout ListsFolder, adopted: Set<ListName>, identity) in
            let scan = Self.listed(["a.plist"], adopted: adopted, identity: identity)
            return folder.record(scan, known: ["a.plist"], at: Sample.start)
        }
        for isRemoved in [false, true] {
            var folder = ListsFolder(Settings().lists, identity: nil)
            #expect(record(&folder, [], Sample.folder.identity) == [])
            if isRemoved { #expect(record(&folder, ["a.plist"], Sample.folder.identity) == []) }
            #expect(record(&folder, ["a.plist"], Self.other) == (isRemoved ? [] : nil))
            #expect((folder.unavailable == nil) == isRemoved)
            // Another run remembers what the folder had.
            folder = ListsFolder(Settings().lists, identity: folder.identity, hadFile: folder.hadFile)
            #expect(record(&folder, ["a.plist"], Self.third) == (isRemoved ? [] : nil))
        }
    }

    @Test("without a state, a list that upstreams are awaited to give is gone only once it was there")
    func awaited() {
        for (first, awaited, isKnown, isGone) in [
            ([], ["a.plist"], false, false), ([], ["a.plist"], true, true), (["a.plist"], ["a.plist"], false, true),
            ([], [], false, true),
        ] as [(Set<ListName>, Set<ListName>, Bool, Bool)] {
            var folder = ListsFolder(Settings().lists, identity: isKnown ? Sample.folder.identity : nil)
            let own: Set<ListName> = ["own.plist"]
            _ = folder.record(
                Self.listed(own.union(first)), known: ["a.plist"], isAwaited: awaited.contains, at: Sample.start)
            for seconds in [0, 60] {
                let time = Sample.start + .seconds(seconds)
                let gone = folder.record(Self.listed(own), known: ["a.plist"], isAwaited: awaited.contains, at: time)
                #expect(gone == (isGone && (seconds > 0) ? ["a.plist"] : []), "\(first) \(awaited) \(seconds)")
            }
            #expect(folder.missing.isEmpty)
        }
    }

    @Test("a list missed before the folder vanished is not gone")
    func vanished() {
        var folder = ListsFolder(Settings().lists, identity: nil)
        _ = folder.record(Self.listed([]), known: ["a.plist"], at: Sample.start)
        #expect(folder.unavailable != nil, "an empty folder of which nothing is known is in doubt")
        _ = folder.record(Self.listed(["b.plist"]), known: ["a.plist", "b.plist"], at: Sample.start)
        #expect(folder.missing == ["a.plist"] && folder.identity == Sample.folder.identity)
        _ = folder.record(.unavailable(reason: "gone"), known: ["a.plist", "b.plist"], at: Sample.start)
        #expect(folder.missing.isEmpty && folder.nextLook == nil)
    }
}
