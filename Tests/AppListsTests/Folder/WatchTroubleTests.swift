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
}
