// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import TestSupport
import Testing

@Suite("A list document")
struct AppListDocumentTests {
    private static let image = Sample.image("abc")
    private static let apps = [
        AppListDocument.App(
            name: "Mail \"beta\"", icon: "https://example.com/mail.png", download: "1.2M", state: .ready(image)),
        AppListDocument.App(
            name: nil, icon: "https://example.com/ü?q=\"\\\"", download: nil, expected: .of("x"),
            state: .pending),
        AppListDocument.App(name: "", icon: "x", download: "", state: .failed(error: "http-404")),
    ]
    /// Entries with identities, whose apps show their previous images.
    private static let kept = [
        AppListDocument.App(
            name: "Mail", id: "org.e.\"mail\"", icon: "https://e.org/2", download: nil, state: .ready(image),
            previous: AppListDocument.Previous(
                icon: "https://e.org/1?\"\\", since: Timestamp("2026-11-21T02:44:52Z"), error: "http-404")),
        AppListDocument.App(
            name: nil, id: "7", icon: "https://e.org/4", download: nil, state: .ready(image),
            previous: AppListDocument.Previous(icon: "https://e.org/3", since: nil)),
    ]

    @Test("a list document is read entry by entry, each once, even if its layout changes midway")
    func entries() throws {
        // The names of the last ones have escapes.
        let apps = Array(Self.apps.reversed())
        for apps in [apps, Array(apps.prefix(1)), []] {
            let text = Sample.document("apps.plist", apps: apps).text
            #expect(try AppListDocument.reduce(text, into: { [AppListDocument.App]() }) { $0.append($1) } == apps)
        }
        #expect(throws: FormatError.self) { try AppListDocument.reduce(Array("{}".utf8), into: { 0 }) { _, _ in } }
    }

    @Test("a list document is written with its keys in a fixed order, one app a line, in the list's order")
    func text() {
        let document = Sample.document("apps.plist", apps: Self.apps)
        let hex = Digest.of("abc").hex
        #expect(
            document.json == #"""
                { "format": 1, "list": "apps.plist", "source": { "sha256": "\#(Digest.of("apps.plist"))", \#
                "bytes": 2101, "modified": "2026-11-21T02:44:52Z" }, "apps": [
                  { "name": "Mail \"beta\"", "icon": "https://example.com/mail.png", "download": "1.2M", \#
                "status": "ready", "path": "icons/ba/\#(hex).png", "sha256": "\#(hex)", "bytes": 3, \#
                "type": "image/png", "width": 64, "height": 48 },
                  { "icon": "https://example.com/ü?q=\"\\\"", "expected": "\#(Digest.of("x"))", "status": "pending" },
                  { "name": "", "icon": "x", "download": "", "status": "failed", "error": "http-404" }
                ] }

                """#)
    }

    @Test("an entry of a list document has its identity, and the origin of the previous image of its app")
    func previous() throws {
        let lines = Sample.document("apps.plist", apps: Self.kept).json.split(separator: "\n")
        #expect(
            lines[1].hasPrefix(
                #"  { "name": "Mail", "id": "org.e.\"mail\"", "icon": "https://e.org/2", "status": "ready", "#))
        #expect(
            lines[1].hasSuffix(
                #""previous": "https://e.org/1?\"\\", "previousSince": "2026-11-21T02:44:52Z", "error": "http-404" },"#)
        )
        #expect(lines[2].hasSuffix(#""height": 48, "previous": "https://e.org/3" }"#))
    }

    @Test("a list document counts an entry with a previous image as ready")
    func previousCounts() {
        let list = Manifest.List(Sample.document("apps.plist", apps: Self.kept), sha256: .of("x"))
        #expect(list.ready == 2 && list.failed == 0)
    }

    @Test(
        "a list document is read back as it was",
        arguments: [
            Sample.document("apps.plist", apps: kept),
            Sample.document("apps.plist", apps: apps), Sample.document("empty.plist", apps: []),
            Sample.document("\u{1}\"\\🦊.plist", apps: apps + apps.reversed()),
        ])
    func roundTrip(document: AppListDocument) throws {
        #expect(try AppListDocument(json: Array(document.json.utf8)) == document)
    }

    private static let good = Sample.document("apps.plist", apps: apps).json

    @Test(
        "a list document is damaged if it is anything else",
        arguments: ["", "{}", "[]", "{ \"format\": 1 }", good + good])
    func damaged(text: String) {
        expectDamaged { try AppListDocument(json: Array(text.utf8)) }
    }

    @Test(
        "a list document is damaged if one thing in it is wrong",
        arguments: [
            ("] }\n", "]"), ("\"list\": ", "\"last\": "), ("\"status\": \"pending\"", "\"status\": \"unheard-of\""),
            (", \"status\": \"pending\"", ""), (", \"error\": \"http-404\"", ""), (", \"width\": 64", ""),
            ("\"bytes\": 3", "\"bytes\": \"3\""), ("\"sha256\": \"\(image.sha256)\"", "\"sha256\": \"abc\""),
            ("\"\(Digest.of("apps.plist"))\"", "\"abc\""), ("2026-11-21", "2026"),
            ("\"icon\": \"x\"", "\"icon\": null"), ("\"path\": \"\(image.path)\"", "\"path\": \"mail.png\""),
        ])
    func damaged(part: String, replacement: String) {
        #expect(Self.good.contains(part))
        damaged(text: Self.good.replacing(part, with: replacement))
    }

    @Test("the error for an entry with an unknown status says that a newer version may have written it")
    func unknownStatus() {
        for (part, reason) in [
            ("\"status\": \"stalled\"", "“apps[1]” has an unknown status, which a newer version may have written"),
            ("\"status\": \"failed\"", "“apps[1]” lacks a key that its status requires, or a number is negative"),
        ] {
            let text = Self.good.replacing("\"status\": \"pending\"", with: part)
            #expect(throws: FormatError.damaged(reason)) { try AppListDocument(json: Array(text.utf8)) }
        }
    }

    @Test(
        "a list document is damaged if an image has another path than agents give it, in any layout of JSON",
        arguments: [
            "../../x", "/etc/passwd", "icons/../icons/\(image.sha256).png", "icons/\(image.sha256).png",
            "icons/00/\(image.sha256).png", "icons/00/\(Digest.of("other")).png", "\(image.path)/x",
            "\(image.path.dropLast(4))", "\(image.path.dropLast(3))", "\(image.path.dropLast(3))../../x",
            "\(image.path.dropLast(3))PNG", "\(image.path.dropLast(3))p\u{301}ng", "\(image.path)\u{301}",
            "\(image.path.dropLast(3))\(String(repeating: "p", count: 17))", "./\(image.path)", "",
        ])
    func otherPath(path: String) {
        let text = Self.good.replacing(
            "\"path\": \"\(Self.image.path)\"", with: "\"path\": \(JSON.quoted(path))")
        for text in [text, text.replacing("\"path\": ", with: "\"path\":")] {
            damaged(text: text)
            expectDamaged { _ = try AppListDocument.reduce(Array(text.utf8), into: { 0 }) { count, _ in count += 1 } }
        }
    }

    @Test(
        "a list document in another layout is read entry by entry up to a limit",
        arguments: [(0, true), (-1, false)])
    func anyLayout(excess: Int, isRead: Bool) throws {
        let text = Array(Self.good.replacing("\"path\": ", with: "\"path\":").utf8)
        let limit = text.count + excess
        func count() throws(FormatError) -> Int {
            try AppListDocument.reduce(text, anyLayoutUpTo: limit, into: { 0 }) { count, _ in count += 1 }
        }
        if isRead { #expect(try count() == Self.apps.count) } else { expectDamaged { _ = try count() } }
        // The layout of agents has no limit, whatever it escapes.
        let quoted = Sample.document("a", apps: [.init(name: "“\"”\u{1}\n", icon: "x", download: nil, state: .pending)])
        #expect(try AppListDocument.reduce(quoted.text, anyLayoutUpTo: 0, into: { 0 }) { count, _ in count += 1 } == 1)
    }

    @Test(
        "a list document of another format is reported as such, whatever else it has",
        arguments: ["{ \"format\": 2 }", "{ \"format\": 2, \"apps\": {} }", nil])
    func unknownFormat(text: String?) {
        let text = text ?? Self.good.replacing("\"format\": 1", with: "\"format\": 2")
        #expect(throws: FormatError.unknownFormat(2)) {
            try AppListDocument(json: Array(text.utf8))
        }
    }
}
