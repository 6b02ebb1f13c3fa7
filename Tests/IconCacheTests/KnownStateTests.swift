// SPDX-License-Identifier: Apache-2.0
import IconCache
import TestSupport
import Testing

@Suite("The known state of a subscriber")
struct KnownStateTests {
    private static func document(_ list: ListName, _ icons: KeyValuePairs<IconURL, String?>) -> AppListDocument {
        Sample.document(list, icons)
    }

    private static func ready(_ url: IconURL, _ text: String) -> Change {
        .iconReady(url: url, image: Sample.image(text))
    }

    private static func replaced(_ url: IconURL, _ text: String) -> Change {
        .iconReplaced(url: url, image: Sample.image(text))
    }

    /// Takes in a generation, with those of its documents that are asked for.
    private static func advance(_ state: inout KnownState, to documents: [AppListDocument]) -> [Change] {
        let manifest = Sample.manifest(1, documents)
        let unknown = state.unknownLists(of: manifest)
        return state.advance(
            to: manifest, documents: unknown.compactMap { list in documents.first { $0.list == list } })
    }

    @Test(
        "a new subscriber gets everything as just added",
        arguments: [
            ([], []),
            ([document("a", [:])], [.listAdded("a")]),
            ([document("a", ["u": nil])], [.listAdded("a")]),
            (
                [document("b", ["w": "3", "v": "2"]), document("a", ["u": "1", "x": nil])],
                [.listAdded("a"), .listAdded("b"), ready("u", "1"), ready("w", "3"), ready("v", "2")]
            ),
            (
                [document("a", ["u": "1", "u": "1"]), document("b", ["u": "1"])],
                [.listAdded("a"), .listAdded("b"), ready("u", "1")]
            ),
        ] as [([AppListDocument], [Change])])
    func beginning(documents: [AppListDocument], expected: [Change]) {
        var state = KnownState()
        #expect(Self.advance(&state, to: documents) == expected)
        #expect(Self.advance(&state, to: documents) == [])
    }

    private static let steps: [(String, before: [AppListDocument], after: [AppListDocument], [Change])] = [
        ("nothing", [document("a", ["u": "1"])], [document("a", ["u": "1"])], []),
        (
            "the first of two lists with different images goes",
            [document("a", ["u": "1", "v": "1"]), document("b", ["u": "2", "v": "1"])],
            [document("b", ["u": "2", "v": "1"])], [.listRemoved("a"), replaced("u", "2")]
        ),
        (
            "the second of two lists gets another image for an icon of the first",
            [document("a", ["u": "1"]), document("b", ["u": "1"])],
            [document("a", ["u": "1"]), document("b", ["u": "2"])], [.listChanged("b")]
        ),
        ("a list comes", [], [document("a", ["u": "1"])], [.listAdded("a"), ready("u", "1")]),
        ("a list goes", [document("a", ["u": "1"])], [], [.listRemoved("a"), .iconGone(url: "u")]),
        ("an empty list goes", [document("a", [:])], [], [.listRemoved("a")]),
        (
            "an icon gets ready", [document("a", ["u": nil])], [document("a", ["u": "1"])],
            [.listChanged("a"), ready("u", "1")]
        ),
        (
            "an icon gets another image", [document("a", ["u": "1"])], [document("a", ["u": "2"])],
            [.listChanged("a"), replaced("u", "2")]
        ),
        (
            "an icon loses its image", [document("a", ["u": "1"])], [document("a", ["u": nil])],
            [.listChanged("a"), .iconGone(url: "u")]
        ),
        (
            "an icon goes from its list", [document("a", ["u": "1", "v": "2"])], [document("a", ["v": "2"])],
            [.listChanged("a"), .iconGone(url: "u")]
        ),
        (
            "the order changes", [document("a", ["u": "1", "v": "2"])], [document("a", ["v": "2", "u": "1"])],
            [.listChanged("a")]
        ),
        (
            "an icon is named twice from now on", [document("a", ["u": "1"])], [document("a", ["u": "1", "u": "1"])],
            [.listChanged("a")]
        ),
        (
            "an icon is named once from now on", [document("a", ["u": "1", "u": "1"])], [document("a", ["u": "1"])],
            [.listChanged("a")]
        ),
        (
            "an icon changes lists", [document("a", ["u": "1"]), document("b", [:])],
            [document("a", [:]), document("b", ["u": "1"])], [.listChanged("a"), .listChanged("b")]
        ),
        (
            "a list is renamed", [document("b", ["u": "1"])], [document("a", ["u": "1"])],
            [.listRemoved("b"), .listAdded("a")]
        ),
        (
            "an icon goes from one of its lists", [document("a", ["u": "1"]), document("b", ["u": "1"])],
            [document("a", [:]), document("b", ["u": "1"])], [.listChanged("a")]
        ),
        (
            "an icon goes from both of its lists", [document("a", ["u": "1"]), document("b", ["u": "1"])], [],
            [.listRemoved("a"), .listRemoved("b"), .iconGone(url: "u")]
        ),
        (
            "an icon of two lists gets another image", [document("a", ["u": "1"]), document("b", ["u": "1"])],
            [document("a", ["u": "2"]), document("b", ["u": "2"])],
            [.listChanged("a"), .listChanged("b"), replaced("u", "2")]
        ),
        (
            "much at once",
            [document("a", ["u": "1", "v": "2"]), document("b", ["w": "3"]), document("d", ["x": nil])],
            [document("a", ["v": "5", "y": "6"]), document("c", ["w": "3"]), document("d", ["x": "7"])],
            [
                .listRemoved("b"), .listChanged("a"), .listAdded("c"), .listChanged("d"), replaced("v", "5"),
                ready("y", "6"), ready("x", "7"), .iconGone(url: "u"),
            ]
        ),
    ]

    @Test("a subscriber gets each changed list and icon once", arguments: steps.indices)
    func step(index: Int) {
        let (name, before, after, expected) = Self.steps[index]
        var state = KnownState()
        _ = Self.advance(&state, to: before)
        #expect(Self.advance(&state, to: after) == expected, "\(name)")
        #expect(Self.advance(&state, to: after) == [], "\(name)")
    }

    @Test("documents that a subscriber knows are not read again")
    func unknownLists() {
        var state = KnownState()
        let a = Self.document("a", ["u": "1"])
        let b = Self.document("b", ["v": nil])
        #expect(state.unknownLists(of: Sample.manifest(1, [b, a])) == ["a", "b"])
        _ = Self.advance(&state, to: [b, a])
        #expect(state.unknownLists(of: Sample.manifest(2, [b, a])) == [])
        #expect(state.unknownLists(of: Sample.manifest(3, [a, Self.document("b", ["v": "2"])])) == ["b"])
        #expect(state.unknownLists(of: Sample.manifest(4, [a])) == [])
    }

    @Test("following random generations leads to the state that a newcomer gets")
    func random() {
        var generator = SeededRandom(seed: 7)
        var state = KnownState()
        var lists: Set<ListName> = []
        var icons: [IconURL: AppListDocument.Image] = [:]
        for _ in 0..<300 {
            let texts = (0..<6).map { _ in "\(Int.random(in: 1...3, using: &generator))" }
            let documents = (["a", "b", "c"] as [ListName]).filter { _ in Bool.random(using: &generator) }.map { list in
                let urls = (0..<6).filter { _ in Bool.random(using: &generator) }.shuffled(using: &generator)
                return Sample.document(
                    list,
                    apps: urls.map { url in
                        AppListDocument.App(
                            name: nil, icon: "\(url)", download: nil,
                            state: url < 4 ? .ready(Sample.image(texts[url])) : .pending)
                    })
            }
            for change in Self.advance(&state, to: documents) {
                switch change {
                case .listAdded(let list): #expect(lists.insert(list).inserted)
                case .listChanged(let list): #expect(lists.contains(list))
                case .listRemoved(let list): #expect(lists.remove(list) != nil)
                case .iconReady(let url, let image): #expect(icons.updateValue(image, forKey: url) == nil)
                case .iconReplaced(let url, let image):
                    let old = icons.updateValue(image, forKey: url)
                    #expect(old != nil && old != image)
                case .iconGone(let url): #expect(icons.removeValue(forKey: url) != nil)
                }
            }
            var expected: [IconURL: AppListDocument.Image] = [:]
            for case (let url, .ready(let image)) in documents.flatMap(\.apps).map({ ($0.icon, $0.state) }) {
                expected[url] = image
            }
            #expect(icons == expected)
            #expect(lists == Set(documents.map(\.list)))
        }
    }
}
