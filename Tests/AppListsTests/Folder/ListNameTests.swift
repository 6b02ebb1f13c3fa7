// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Testing

@Suite("Names of files in the lists folder")
struct ListNameTests {
    @Test(
        "file names of app lists are accepted",
        arguments: [
            "apps.plist", "a b.plist", "ü.plist", "a.b.plist", "plist.plist", "new.plist", "a.plist.plist",
            "whats.new.plist", "apps.bak.plist",
            "~.plist", "apps.json", "apps.plist.json", "apps.json.plist",
        ])
    func lists(name: ListName) {
        #expect(name.isAppList)
    }

    @Test(
        "hidden and other file names are no app lists",
        arguments: [
            "", "apps", "plist", ".plist", "apps.plis", "apps.PLIST", "apps.xml", ".apps.plist", "..plist",
            "#apps.plist#",
            "#apps.plist", ".#apps.plist", "apps.plist~", "apps.plist.swp", ".apps.plist.swp", "apps.plist.bak",
            "apps.plist.dpkg-new", "apps.plist.dpkg-old", "apps.plist.rpmnew", "apps.plist.rpmsave",
            "apps.plist.ucf-dist",
            ".json", "apps.JSON", "json", "apps.json~", "#apps.json", "apps.json5", "apps.plist.tmp", "apps.plist.part",
            "apps.plist\n",
        ])
    func others(name: ListName) {
        #expect(!name.isAppList)
    }

    @Test(
        "copies that synchronizers keep of a list changed twice are known by their names",
        arguments: [
            ("apps.sync-conflict-20261103-101500-ABCDEFG.plist", true),
            ("apps (conflicted copy 2026-11-03).plist", true),
            ("apps (Ada's conflicted copy 2026-11-03).plist", true), ("apps (Case Conflict).plist", true),
            ("apps (Case Conflict 1).plist", true), ("apps (Unicode Encoding Conflict).plist", true),
            ("apps_conflict-20261103-101500.plist", true), ("apps.conflict-20261103.plist", true),
            ("apps.conflict1.plist", true), ("apps_NAS_Nov-03-1015-2026_Conflict.plist", true),
            ("apps (SFConflict ada 2026-11-03-10-15-00).plist", true), ("apps [conflicted].plist", true),
            ("apps (conflicted copy 2026-11-03).json", true), ("a_conflict.json", true), ("apps.json", false),
            ("apps.plist", false), ("apps-LAPTOP.plist", false), ("conflict.plist", false),
            ("conflict-resolution.plist", false), ("nonconflict apps.plist", false), ("conflicts.plist", false),
            ("apps conflicts.plist", false), ("ökonflict.plist", false), ("apps.plist.conflict", false), ("", false),
        ] as [(ListName, Bool)])
    func conflictCopies(name: ListName, isCopy: Bool) {
        #expect(name.isConflictCopy == isCopy)
    }
}
