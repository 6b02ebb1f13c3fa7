// SPDX-License-Identifier: Apache-2.0
import AppLists
import Testing

@Suite("Folders of which not every change is told")
struct WatchTroubleTests {
    @Test(
        "a reached watch limit is named, with what to raise",
        arguments: [
            ("ENOSPC", "fs.inotify.max_user_watches"), ("EMFILE", "fs.inotify.max_user_instances"),
            ("ENFILE", "fs.file-max"), ("ENOENT", "ENOENT"),
        ])
    func limits(errno: String, words: String) {
        let reason = WatchTrouble.refused(errno: errno).reason
        #expect(reason.contains("(\(errno))") && reason.contains(words))
    }

    @Test(
        "file systems that other machines change are known",
        arguments: [
            (0x6969, "NFS"), (0x6573_5546, "FUSE"), (0x0102_1997, "9P"), (0x794C_7630, "overlayfs"), (0xEF53, nil),
            (0x0102_1994, nil), (0x9123_683E, nil),
        ] as [(UInt32, String?)])
    func fileSystems(magic: UInt32, name: String?) {
        #expect(WatchTrouble.of(fileSystem: magic) == name.map { .blind(fileSystem: $0) })
    }

    @Test(
        "polling takes less than a hundredth of the time, and is no rarer than the rescan",
        arguments: [(0, 2000), (5, 2000), (20, 4000), (100, 20_000), (1000, 30_000)])
    func pace(cost: Int, interval: Int) {
        #expect(PollingPace.interval(cost: .milliseconds(cost), rescan: .seconds(30)) == .milliseconds(interval))
        #expect(PollingPace.interval(cost: .milliseconds(cost), rescan: .seconds(1)) == .seconds(1))
    }
}
