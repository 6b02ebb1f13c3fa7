// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Reports
import Testing

@testable import SyncPlan

@Suite("Apps whose entry becomes unusable")
struct KeptIconsTests {
    private static let old = [
        AppEntry(name: "Mail", id: "m", icon: "u:mail"), AppEntry(name: "Maps", icon: "u:maps"),
        AppEntry(name: "Twin", icon: "u:1"), AppEntry(name: "Twin", icon: "u:2"),
        AppEntry(name: "A", id: "same", icon: "u:a"), AppEntry(name: "B", id: "same", icon: "u:b"),
    ]

    /// An entry with an icon, or an unusable one with a name and an identity.
    enum Row {
        case usable(AppEntry)
        case unusable(String?, String?)
    }

    private static func list(_ rows: [Row]) -> AppList {
        var list = AppList()
        for (number, row) in rows.enumerated() {
            switch row {
            case .usable(let entry): list.entries.append(entry)
            case .unusable(let name, let id):
                list.unusable.append(
                    UnusableEntry(index: list.entries.count, name: name, id: id, keyPath: "[\(number)].icon"))
                list.problems.append(EntryProblem(keyPath: "[\(number)].icon", reason: "empty"))
            }
        }
        return list
    }

    @Test(
        "a known app keeps its last URL at its place, once; an unknown one is left out",
        arguments: [
            ([.unusable("Mail", "m")], ["u:mail"]), ([.unusable("Post", "m")], ["u:mail"]),
            ([.unusable("Mail", nil)], ["u:mail"]), ([.unusable("Mail", "other")], []),
            ([.unusable("Maps", nil)], ["u:maps"]), ([.unusable("Maps", "new")], ["u:maps"]),
            ([.unusable("New", nil)], []), ([.unusable(nil, "none")], []),
            // What may be any app keeps those that are missing, in their order.
            ([.unusable(nil, nil)], ["u:mail"]), ([.unusable("", nil), .unusable(nil, nil)], ["u:mail", "u:maps"]),
            ([.unusable(nil, nil), .unusable("Mail", "m")], ["u:maps", "u:mail"]),
            ([.usable(AppEntry(name: "Atlas", icon: "u:maps")), .unusable(nil, nil)], ["u:maps", "u:mail"]),
            (old.map(Row.usable) + [Row.unusable(nil, nil)], old.map(\.icon)),
            ([.unusable("Twin", nil)], ["u:1"]), ([.unusable("Maps", nil), .unusable("Maps", nil)], ["u:maps"]),
            ([.unusable("Twin", nil), .usable(AppEntry(name: "Twin", icon: "u:1"))], ["u:2", "u:1"]),
            ([.usable(AppEntry(name: "Maps", icon: "u:x")), .unusable("Maps", nil)], ["u:x"]),
            ([.unusable(nil, "same"), .unusable(nil, "same"), .unusable(nil, "same")], ["u:a", "u:b"]),
            ([.unusable("B", "same")], ["u:b"]), ([.unusable("C", "same")], []),
            ([.unusable("B", "same"), .unusable("A", "same")], ["u:b", "u:a"]),
            ([.usable(AppEntry(id: "same", icon: "u:y")), .unusable(nil, "same")], ["u:y", "u:b"]),
            ([.unusable("Post", "m"), .unusable("Mail", nil)], ["u:mail"]),
            // Another app now has the same URL.
            (
                [.usable(AppEntry(name: "Post", id: "p", icon: "u:mail")), .unusable("Mail", "m")],
                ["u:mail", "u:mail"]
            ),
            ([.usable(AppEntry(name: "Atlas", icon: "u:maps")), .unusable("Maps", nil)], ["u:maps", "u:maps"]),
            (
                [.unusable("Mail", "m"), .usable(AppEntry(icon: "u:new")), .unusable("Maps", nil)],
                ["u:mail", "u:new", "u:maps"]
            ),
        ] as [([Row], [IconURL])])
    func kept(rows: [Row], icons: [IconURL]) {
        #expect(Self.list(rows).keepingIcons(of: AppEntries(Self.old)).entries.map(\.icon) == icons)
    }

    @Test("entries without name and identity keep as many URLs as are lost, in order")
    func anonymous() {
        let old = ["u:1", "u:2", "u:3", "u:4"].map { AppEntry(icon: $0) }
        let second = Self.list([.usable(AppEntry(icon: "u:x")), .unusable(nil, nil)])
        #expect(second.keepingIcons(of: AppEntries(Array(old.prefix(2)))).entries.map(\.icon) == ["u:x", "u:2"])
        let list = Self.list([.usable(AppEntry(icon: "u:2")), .unusable(nil, nil), .unusable(nil, nil)])
        #expect(list.keepingIcons(of: AppEntries(old)).entries.map(\.icon) == ["u:2", "u:1", "u:3"])
    }

    @Test("as many nameless entries as the last version had without an app keep none")
    func strays() {
        let rows = [.usable(Self.old[0])] + [Row](repeating: .unusable(nil, nil), count: 3)
        let list = Self.list(rows).keepingIcons(of: AppEntries(Array(Self.old.prefix(3))), strays: 2)
        #expect(list.entries == [Self.old[0], Self.old[1]])
        #expect(list.unusable.map(\.keyPath) == ["[2].icon", "[3].icon"] && list.unusable.map(\.index) == [2, 2])
        #expect(Self.list(rows).keepingIcons(of: AppEntries(Self.old), strays: 4).entries == [Self.old[0]])
    }

    @Test(
        "an identity such as 0 or null is none if several apps have it; null also if the last version had none",
        arguments: [
            (["0", "0"], ["m", "n"], [nil, nil]), (["0", "1"], ["m", "n"], ["0", "1"]),
            (["0", "1"], ["0", "1"], ["0", "1"]), (["0", "1"], [], ["0", "1"]), (["0", "0"], [], [nil, nil]),
            (["NULL", "n"], ["m", "n"], [nil, "n"]), (["same", "same"], ["m", "n"], ["same", "same"]),
        ] as [([String], [String], [String?])])
    func blankIdentities(ids: [String], old: [String], left: [String?]) {
        let last = old.map { AppEntry(name: $0, id: $0, icon: "u:\($0)") }
        let list = Self.list([.usable(AppEntry(name: "Mail", id: ids[0], icon: "u:x")), .unusable("Maps", ids[1])])
        let found = list.withoutBlankIdentities(since: AppEntries(last))
        #expect(found.entries.map(\.id) + found.unusable.map(\.id) == left)
    }

    @Test("a kept entry has its new name, and its problem says that the icon stays")
    func name() {
        let list = Self.list([.unusable("Post", "m"), .unusable("New", nil)]).keepingIcons(of: AppEntries(Self.old))
        #expect(list.entries == [AppEntry(name: "Post", id: "m", icon: "u:mail")])
        #expect(list.problems.map(\.reason) == ["empty; the app keeps its last icon", "empty"] && list.kept == [0])
    }

    @Test("a report of apps that keep their icons names three of them, or their URLs without what may be secret")
    func report() {
        let names = [String(repeating: "é", count: 40), "", "B", "C", "D"]
        var list = AppList(entries: names.map { AppEntry(name: $0, icon: "https://e.org/a?token=x") })
        list.kept = [0, 1, 3, 4]
        let examples = [String(repeating: "é", count: 32) + "…", "https://e.org/a?…", "C"]
        #expect(StatusReport.List.Kept(of: list) == StatusReport.List.Kept(apps: 4, examples: examples))
        #expect(StatusReport.List.Kept(of: AppList(entries: list.entries)) == nil)
    }

    @Test("a list without a last version, or without unusable entries, stays as it is")
    func unchanged() {
        let spoiled = Self.list([.unusable("Mail", "m")])
        #expect(spoiled.keepingIcons(of: []) == spoiled)
        let whole = Self.list([.usable(AppEntry(icon: "u:x"))])
        #expect(whole.keepingIcons(of: AppEntries(Self.old)) == whole)
    }
}
