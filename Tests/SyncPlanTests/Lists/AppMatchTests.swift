// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Testing

@testable import SyncPlan

@Suite("Matching entries of two versions of a list")
struct AppMatchTests {
    /// Entries, each written as `id/name/url` with parts left empty.
    private static func entries(_ texts: [String]) -> AppEntries {
        AppEntries(
            texts.map { text in
                let parts = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
                return AppEntry(
                    name: parts[1].isEmpty ? nil : parts[1], id: parts[0].isEmpty ? nil : parts[0],
                    icon: IconURL(parts[2]))
            })
    }

    /// A case: the old version, the new one, the old entry of each new one that changed, and the old entries that are gone.
    struct Case: Sendable {
        var old: [String]
        var new: [String]
        var counterparts: [Int: Int]
        var gone: [Int]

        init(_ old: [String], _ new: [String], _ counterparts: [Int: Int], gone: [Int] = []) {
            (self.old, self.new, self.counterparts, self.gone) = (old, new, counterparts, gone)
        }
    }

    @Test(
        "entries match by identity, else by a unique name, else by the URL without its query",
        arguments: [
            // Nothing changes, or something comes or goes.
            Case([], ["1/A/u"], [:]), Case(["1/A/u"], [], [:], gone: [0]),
            Case(["1/A/u", "2/B/v"], ["1/A/u", "2/B/v"], [:]),
            Case(["1/A/u", "2/B/v"], ["1/A/u", "3/C/w", "2/B/v"], [:]),
            Case(["1/A/u", "3/C/w", "2/B/v"], ["1/A/u", "2/B/v"], [:], gone: [1]),
            // The identity counts, whatever else is new.
            Case(["1/A/u"], ["1/A/v"], [0: 0]), Case(["1/A/u"], ["1/B/v"], [0: 0]), Case(["1/A/u"], ["1//v"], [0: 0]),
            Case(["1/A/u", "2/B/v"], ["2/B/w", "1/A/x"], [0: 1, 1: 0]),
            // Another one is another app, with the same name too; with the same URL, it shows the same image.
            Case(["1/A/u"], ["2/A/v"], [:], gone: [0]), Case(["1/A/u"], ["2/A/u"], [0: 0]),
            Case(["1/A/u", "2/B/v"], ["3/B/v", "4/A/u"], [0: 1, 1: 0]),
            // Apps with several entries: in their order; the last old one counts for those that are more.
            Case(["1/A/u", "1/A/v"], ["1/A/x", "1/A/y"], [0: 0, 1: 1]),
            Case(["1/A/u"], ["1/A/x", "1/A/y"], [0: 0, 1: 0]),
            Case(["1/A/u", "1/A/v"], ["1/A/x"], [0: 0], gone: [1]),
            Case(["1/A/u", "1/A/v"], ["1/A/v"], [:], gone: [0]),
            // An entry added beside others of its app, which do not change.
            Case(["1/A/u"], ["1/A/v", "1/A/u"], [0: 0]),
            Case(["1/A/u", "1/A/v"], ["1/A/u", "1/A/w", "1/A/v"], [1: 1]),
            Case(["1/A/u", "2/B/v"], ["1/A/u", "2/B/v", "1/A/w"], [2: 0]),
            // Names.
            Case(["/A/u"], ["/A/v"], [0: 0]), Case(["/A/u", "/B/w"], ["/B/w", "/A/v"], [0: 1, 1: 0]),
            Case(["/A/u", "/A/w"], ["/A/v", "/A/w"], [:], gone: [0]), Case(["/A/u"], ["/A/v", "/A/w"], [:], gone: [0]),
            Case(["/A/u", "/A/w"], ["/A/v"], [:], gone: [0, 1]), Case(["/A/u"], ["/B/u"], [0: 0]),
            Case(["/A/u", "/B/x", "/A/w"], ["/A/u", "/B/y", "/A/w"], [1: 1]),
            // A name that another entry has, where nothing changed for that one.
            Case(["/A/u", "/A/w", "/B/x"], ["/A/u", "/A/v", "/B/x"], [:], gone: [1]),
            // Names that several have: what tells them apart is the URL without its query.
            Case(["/A/u?1", "/A/v?1", "/B/w"], ["/A/u?2", "/A/v?2", "/B/w"], [0: 0, 1: 1]),
            Case(["/A/u?1"], ["/A/u?2", "/A/v"], [0: 0]), Case(["/A/u?1", "/A/v?1"], ["/A/v?2"], [0: 1], gone: [0]),
            Case(["/A/u?1", "/A/u?2"], ["/A/u?3", "/A/u?4"], [:], gone: [0, 1]),
            Case(["/A/u?1", "/A/v?1"], ["1/A/u?2", "2/A/v?2"], [0: 0, 1: 1]),
            Case(["/A/u?1"], ["/B/u?2"], [:], gone: [0]),
            // An identity of apps with different names, before or after, counts together with the name.
            Case(["1/A/u"], ["1/A/u", "1/B/v"], [:]), Case(["1/A/u", "1/B/v"], ["1/C/w", "1/B/v"], [:], gone: [0]),
            Case(["1/A/u"], ["1/B/v", "1/C/w"], [:], gone: [0]),
            Case(["1/A/u", "1/B/v"], ["1/B/x", "1/A/y"], [0: 1, 1: 0]),
            Case(["1/A/u", "1/B/v"], ["1/A/u", "1/B/v", "1/A/w"], [2: 0]),
            Case(["1/A/u", "1//v"], ["1/B/x", "1//y"], [0: 0, 1: 1]),
            Case(["1/A/u", "1/B/v"], ["1//x", "1//y"], [0: 0, 1: 1]),
            Case(["1/A/u?1", "1/B/v?1"], ["1/C/u?2", "1/B/v?2"], [0: 0, 1: 1]),
            // The same of identities that several have.
            Case(["1/A/u", "1/B/v?1"], ["1/B/v?2"], [0: 1], gone: [0]),
            // Names are bytes.
            Case(["/\u{E9}/u"], ["/e\u{301}/v"], [:], gone: [0]),
            // Identities come, or go.
            Case(["/A/u"], ["1/A/v"], [0: 0]), Case(["1/A/u"], ["/A/v"], [0: 0]),
            // URLs alone.
            Case(["//u?1"], ["//u?2"], [0: 0]), Case(["//u?1"], ["//u#2"], [0: 0]), Case(["//u?1"], ["//u"], [0: 0]),
            Case(["//u?1"], ["//v?1"], [:], gone: [0]), Case(["//u?1", "//u?2"], ["//u?3"], [:], gone: [0, 1]),
            Case(["//u?1"], ["//u?2", "//u?3"], [:], gone: [0]),
            Case(["//u?1"], ["/A/u?2"], [:], gone: [0]), Case(["1//u?1"], ["2//u?2"], [:], gone: [0]),
        ])
    func match(_ versions: Case) {
        let match = AppMatch(from: Self.entries(versions.old), to: Self.entries(versions.new))
        #expect(match.counterparts == versions.counterparts)
        #expect(match.gone == versions.gone)
    }

    @Test(
        "a URL replaces at most one other URL, whose apps must all have other URLs",
        arguments: [
            (["1/A/u", "2/B/v"], ["1/A/x", "2/B/y"], ["u", "v"]), (["1/A/u", "2/B/v"], ["1/A/x", "2/B/x"], ["u"]),
            (["1/A/u", "2/B/u"], ["1/A/x", "2/B/y"], ["u"]), (["1/A/u", "2/B/u"], ["1/A/x"], []),
            (["1/A/u", "2/B/v"], ["1/A/x"], ["u"]), (["1/A/u"], ["1/B/u"], []),
        ] as [([String], [String], Set<IconURL>)])
    func succeeded(old: [String], new: [String], urls: Set<IconURL>) {
        let (old, new) = (Self.entries(old), Self.entries(new))
        #expect(AppMatch(from: old, to: new).succeeded(from: old, to: new) == urls)
    }

    @Test("entries around a change move with it")
    func moves() {
        let old = Self.entries(["1/A/u", "2/B/v", "3/C/w"])
        let longer = AppMatch(from: old, to: Self.entries(["1/A/u", "4/D/x", "5/E/y", "3/C/w"]))
        #expect((0..<3).map(longer.unchanged) == [0, nil, 3])
        let shorter = AppMatch(from: old, to: Self.entries(["1/A/u", "3/C/w"]))
        #expect((0..<3).map(shorter.unchanged) == [0, nil, 1])
    }
}
