// SPDX-License-Identifier: Apache-2.0

/// A file that the parser refuses: just beyond a limit of ours, or wrong in an ordinary way.
///
/// `Tests/Tools/harmless` shows that other software refuses it with an error, or reads it.
package struct RefusedList: Sendable {
    package var name: String
    package var bytes: [UInt8]

    private init(_ name: String, _ bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    private init(_ name: String, _ text: String) {
        self.init(name, Array(text.utf8))
    }

    package static let all = nested + counts + places + odd

    /// One container more inside one another than the limit.
    package static let nested = [
        RefusedList("deep-xml", deep("<array>", "</array>")),
        RefusedList("deep-xml-dict", deep("<dict><key>a</key>", "</dict>", within: "<true/>")),
        RefusedList("deep-xml-open", deep("<array>", "")),
        RefusedList("deep-openstep", String(repeating: "({a=", count: 17)),
        RefusedList("deep-binary", BinaryList.nested(33)),
        RefusedList("deep-xml-utf16", [0xFF, 0xFE] + deep("<array>", "</array>").utf16.flatMap { [UInt8($0), 0] }),
    ]

    private static func deep(_ open: String, _ close: String, within: String = "") -> String {
        "<?xml version=\"1.0\"?><plist>" + String(repeating: open, count: 33) + within
            + String(repeating: close, count: 33) + "</plist>"
    }

    /// A hundred members or bytes, where the file has fewer left.
    package static let counts: [RefusedList] =
        kinds.map { RefusedList("count-\($0.name)", BinaryList.bytes(of: [BinaryList.hundred($0.mark)])) }
        + kinds.map {
            RefusedList("count-\($0.name)-within", BinaryList.bytes(of: [[0xA1, 1], BinaryList.hundred($0.mark)]))
        }

    private static let kinds: [(name: String, mark: UInt8)] = [
        ("data", 0x40), ("ascii", 0x50), ("utf16", 0x60), ("array", 0xA0), ("dict", 0xD0),
    ]

    /// An empty array in a file whose end names a place that is not there.
    package static let places = [
        RefusedList("too-many-objects", BinaryList.emptyArray(objects: 2)),
        RefusedList("top-beyond-objects", BinaryList.emptyArray(top: 1)),
        RefusedList("table-beyond-end", BinaryList.emptyArray(table: 100)),
    ]

    private static let odd = [
        RefusedList(
            "entity",
            "<!DOCTYPE plist [<!ENTITY a \"http://e.org/a\">]><plist><array><string>&a;</string></array></plist>"),
        RefusedList("key-that-is-no-text", BinaryList.bytes(of: [[0xD1, 1, 2], [0x10, 1], [0x51, 0x61]])),
        RefusedList("end-of-zeros", Array("bplist00".utf8) + [UInt8](repeating: 0, count: 32)),
        RefusedList("zeros", [UInt8](repeating: 0, count: 100)),
        RefusedList("image", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
    ]
}
