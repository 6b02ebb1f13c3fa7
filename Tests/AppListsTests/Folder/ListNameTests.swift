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
            "~.plist",
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
            "apps.plist.tmp", "apps.plist.part", "apps.plist\n",
        ])
    func others(name: ListName) {
        #expect(!name.isAppList)
    }
}
