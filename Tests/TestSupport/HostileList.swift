// SPDX-License-Identifier: Apache-2.0

/// A file that is made to kill, hang or fool whoever parses it.
package struct HostileList: Sendable {
    package var name: String
    package var bytes: [UInt8]

    private init(_ name: String, _ bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    private init(_ name: String, _ text: String) {
        self.init(name, Array(text.utf8))
    }

    package static let all = nested + counts + shared + entities + odd

    /// A hundred thousand containers inside one another.
    package static let nested = [
        HostileList("deep-xml", deep("<array>", "</array>")),
        HostileList("deep-xml-dict", deep("<dict><key>a</key>", "</dict>")),
        HostileList("deep-xml-open", deep("<dict><key>a</key>", "")),
        HostileList("deep-openstep", String(repeating: "({a=", count: 50_000)),
        HostileList("deep-binary", BinaryList.nested(100_000)),
        HostileList("cycle", BinaryList.bytes(of: [[0xA1, 0]])),
        HostileList("longer-cycle", BinaryList.bytes(of: [[0xA2, 1, 2], [0xA0], [0xA1, 3], [0xA1, 2]])),
    ]

    /// Nested deep too, in an encoding that is not looked into before.
    package static let nestedWide = HostileList(
        "deep-xml-utf16", deep("<array>", "</array>").utf16.flatMap { [UInt8($0), 0] })

    private static func deep(_ open: String, _ close: String) -> String {
        "<?xml version=\"1.0\"?><plist>" + String(repeating: open, count: 100_000)
            + String(repeating: close, count: 100_000)
    }

    /// Counts far beyond the end of the file.
    package static let counts: [HostileList] =
        kinds.map { HostileList("count-\($0.name)", BinaryList.bytes(of: [BinaryList.endless($0.mark)])) }
        + kinds.map {
            HostileList("count-\($0.name)-within", BinaryList.bytes(of: [[0xA1, 1], BinaryList.endless($0.mark)]))
        } + [
            HostileList("count-2-31", BinaryList.bytes(of: [[0xA1, 1], [0x6F, 0x12, 0x7F, 0xFF, 0xFF, 0xFF]])),
            HostileList("utf16-past-the-end", BinaryList.bytes(of: [[0xA1, 1], [0x6E, 0, 0x61]])),
            HostileList("count-objects", Array("bplist00".utf8) + [0xA0, 8] + endlessTable),
        ]

    private static let kinds: [(name: String, mark: UInt8)] = [
        ("data", 0x40), ("ascii", 0x50), ("utf16", 0x60), ("array", 0xA0), ("set", 0xC0), ("dict", 0xD0),
    ]

    /// The end of a file that says that it has 2^63 objects.
    private static let endlessTable: [UInt8] =
        [0, 0, 0, 0, 0, 0, 1, 1] + [0x80, 0, 0, 0, 0, 0, 0, 0] + BinaryList.bigEndian(0, 8) + BinaryList.bigEndian(9, 8)

    /// Few bytes that come to very many values.
    package static let shared = [
        HostileList("tree", BinaryList.doubling(levels: 30)),
        HostileList(
            "large-dict",
            BinaryList.bytes(
                of: [
                    BinaryList.array(repeating: 50_000),
                    [0xDF, 0x12] + BinaryList.bigEndian(100_000, 4) + (0..<200_000).flatMap { _ in [0, 2] as [UInt8] },
                    [0x51, 0x61],
                ], referenceSize: 2)),
    ]

    package static let entities = [
        HostileList("billion-laughs", "<!DOCTYPE plist [<!ENTITY a \"http://e.org/a\">\(laughs)]>\(referring)"),
        HostileList("external-entity", "<!DOCTYPE plist [<!ENTITY j SYSTEM \"file:///etc/passwd\">]>\(referring)"),
    ]

    private static let laughs = zip("abcdefghi", "bcdefghij").map { inner, outer in
        "<!ENTITY \(outer) \"\(String(repeating: "&\(inner);", count: 10))\">"
    }.joined()
    private static let referring = "<plist><array><string>&j;</string></array></plist>"

    private static let odd = [
        nestedWide,
        HostileList("set", BinaryList.bytes(of: [[0xC1, 1], [0x51, 0x61]])),
        HostileList("set-within", BinaryList.bytes(of: [[0xA1, 1], [0xC1, 2], [0x51, 0x61]])),
        HostileList("nan-date", BinaryList.bytes(of: [[0xA1, 1], [0x33, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0]])),
        HostileList("key-that-is-no-text", BinaryList.bytes(of: [[0xD1, 1, 2], [0x10, 1], [0x51, 0x61]])),
        HostileList("end-of-zeros", Array("bplist00".utf8) + [UInt8](repeating: 0, count: 32)),
        HostileList("end-of-ones", Array("bplist00".utf8) + [UInt8](repeating: 0xFF, count: 32)),
        HostileList("zeros", [UInt8](repeating: 0, count: 100)),
        HostileList("image", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
    ]
}
