// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A name from outside the program: two names are equal only if they have the same UTF-8 bytes.
///
/// `String` compares by canonical equivalence (Unicode, section 3.7): `é` equals `e` with a combining accent. File
/// systems and servers treat these as two names, so a list or an icon with the other spelling could displace the
/// original. Names of lists and icons therefore have types that conform to this protocol.
public protocol Identity: Hashable, Comparable, Sendable, Codable, LosslessStringConvertible,
    ExpressibleByStringInterpolation
{
    /// The name as text.
    var text: String { get }
    /// Creates a name from its text.
    init(_ text: String)
}

extension Identity {
    public static func == (a: Self, b: Self) -> Bool {
        // Equal names are mostly one text in memory, which is quick to see.
        a.text._isIdentical(to: b.text)
            || a.text.utf8.count == b.text.utf8.count && compareBytes(a.text, b.text) == 0
    }

    /// Whether `a` sorts before `b` byte by byte, as in `LC_ALL=C sort`.
    public static func < (a: Self, b: Self) -> Bool {
        let order = compareBytes(a.text, b.text)
        return order == 0 ? a.text.utf8.count < b.text.utf8.count : order < 0
    }

    public func hash(into hasher: inout Hasher) {
        let isHashed: Void? = text.utf8.withContiguousStorageIfAvailable {
            hasher.combine(bytes: UnsafeRawBufferPointer($0))
        }
        if isHashed == nil { for byte in text.utf8 { hasher.combine(byte) } }
        // This byte is in no UTF-8 text, so it separates one key from the next.
        hasher.combine(0xFF as UInt8)
    }

    public var description: String { text }

    public init(stringLiteral value: String) { self.init(value) }

    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// Compares the bytes up to the end of the shorter text.
private func compareBytes(_ a: String, _ b: String) -> Int {
    let order = a.utf8.withContiguousStorageIfAvailable { a in
        b.utf8.withContiguousStorageIfAvailable { b -> Int in
            guard let start = a.baseAddress, let other = b.baseAddress else { return 0 }
            return Int(memcmp(start, other, min(a.count, b.count)))
        }
    }
    if let order, let order { return order }
    for (x, y) in zip(a.utf8, b.utf8) where x != y { return Int(x) - Int(y) }
    return 0
}

/// The URL of an icon, spelled exactly as in the app list.
///
/// ```swift
/// let icon = try cache.icon(for: "https://example.com/mail.png")
/// ```
public struct IconURL: Identity {
    public let text: String
    public init(_ text: String) { self.text = text }

    /// The URL without its query and fragment.
    package var withoutQuery: Substring {
        Substring(text.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
    }

    package var hasFragment: Bool { text.utf8Span.span.firstIndex(of: UInt8(ascii: "#")) != nil }

    /// The URL without its fragment.
    package var withoutFragment: IconURL { IconURL(String(Substring(text.utf8.prefix { $0 != UInt8(ascii: "#") }))) }
}

/// The file name of an app list: `apps.plist`.
public struct ListName: Identity {
    public let text: String
    public init(_ text: String) { self.text = text }
}
