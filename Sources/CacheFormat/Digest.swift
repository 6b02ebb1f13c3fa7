// SPDX-License-Identifier: Apache-2.0
import CCrypto

/// A SHA-256 digest: the name of an image, of a list document, and of a URL in `by-url/`.
public struct Digest: Hashable, Sendable {
    private let a, b, c, d: UInt64

    /// Creates a digest from its 32 bytes; `nil` if there are more or fewer.
    public init?(bytes: some Sequence<UInt8>) {
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        var count = 0
        for byte in bytes {
            let word = UInt64(byte) << (56 - 8 * UInt64(count % 8))
            switch count / 8 {
            case 0: words.0 |= word
            case 1: words.1 |= word
            case 2: words.2 |= word
            case 3: words.3 |= word
            default: return nil
            }
            count += 1
        }
        guard count == 32 else { return nil }
        (a, b, c, d) = words
    }

    /// Reads 64 lower-case hexadecimal digits; `nil` if the text is anything else.
    public init?(hex: some StringProtocol) {
        var text = String(hex)
        guard let digest = text.withUTF8({ Digest(hexDigits: $0) }) else { return nil }
        self = digest
    }

    /// Reads 64 lower-case hexadecimal digits in ASCII.
    init?(hexDigits digits: UnsafeBufferPointer<UInt8>) {
        guard digits.count == 64, let a = Self.word(digits[0..<16]), let b = Self.word(digits[16..<32]),
            let c = Self.word(digits[32..<48]), let d = Self.word(digits[48..<64])
        else { return nil }
        (self.a, self.b, self.c, self.d) = (a, b, c, d)
    }

    private static func word(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> UInt64? {
        var word: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): word = word << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): word = word << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return word
    }

    /// The first byte, which selects the two-digit folder.
    package var fan: Int { Int(a >> 56) }

    /// The first 16 bytes, which distinguish the digests of data from outside as well as all 32 do.
    package var half: (UInt64, UInt64) { (a, b) }

    /// Computes the digest of bytes.
    public static func of(_ bytes: [UInt8]) -> Digest {
        var hash = SHA256()
        bytes.withUnsafeBytes { hash.update($0) }
        return hash.finish()
    }

    /// Computes the digest of the UTF-8 bytes of a text.
    public static func of(_ text: String) -> Digest {
        var text = text
        var hash = SHA256()
        text.withUTF8 { hash.update(UnsafeRawBufferPointer($0)) }
        return hash.finish()
    }

    /// The 64 lower-case hexadecimal digits.
    public var hex: String {
        String(unsafeUninitializedCapacity: 64) { buffer in
            withDigits { _ = buffer.initialize(fromContentsOf: $0) }
            return 64
        }
    }

    /// Appends the 64 hexadecimal digits.
    func write(to bytes: inout [UInt8]) {
        withDigits { bytes.append(contentsOf: $0) }
    }

    /// Appends the two digits of the first byte.
    func writeFan(to bytes: inout [UInt8]) {
        withUnsafeBytes(of: Self.digits(of: UInt32(a >> 32))) { bytes.append(contentsOf: $0.prefix(2)) }
    }

    /// The path of a file that is named by the digest: `<folder>/ab/<digest><end>`, where `ab` is the first byte.
    func path(in folder: String, end: String = "") -> String {
        withDigits { digits in
            String(unsafeUninitializedCapacity: folder.utf8.count + digits.count + end.utf8.count + 4) { buffer in
                var count = 0
                func append(_ bytes: some Collection<UInt8>) {
                    count = buffer[count...].initialize(fromContentsOf: bytes)
                }
                append(folder.utf8)
                append(CollectionOfOne(UInt8(ascii: "/")))
                append(digits.prefix(2))
                append(CollectionOfOne(UInt8(ascii: "/")))
                append(digits)
                append(end.utf8)
                return count
            }
        }
    }

    private func withDigits<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let digits = (
            Self.digits(of: UInt32(a >> 32)), Self.digits(of: UInt32(truncatingIfNeeded: a)),
            Self.digits(of: UInt32(b >> 32)), Self.digits(of: UInt32(truncatingIfNeeded: b)),
            Self.digits(of: UInt32(c >> 32)), Self.digits(of: UInt32(truncatingIfNeeded: c)),
            Self.digits(of: UInt32(d >> 32)), Self.digits(of: UInt32(truncatingIfNeeded: d))
        )
        return withUnsafeBytes(of: digits, body)
    }

    /// Eight hexadecimal digits in ASCII, the first one at the lowest address.
    ///
    /// All eight are computed at once: for a list document there are 128 of them an app.
    private static func digits(of word: UInt32) -> UInt64 {
        // One half of a byte in each byte.
        var values = UInt64(word)
        values = values << 16 & 0xFFFF_0000_0000 | values & 0xFFFF
        values = values << 8 & 0x00FF_0000_00FF_0000 | values & 0x0000_00FF_0000_00FF
        values = values << 4 & 0x0F00_0F00_0F00_0F00 | values & 0x000F_000F_000F_000F
        // 1 where the value is 10 or more: letters come 39 after the digits.
        let letters = (values + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return (values + 0x3030_3030_3030_3030 + letters * 39).bigEndian
    }
}

extension Digest {
    /// Hashes the first eight bytes, which distinguish digests as well as all 32 do.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(a)
    }
}

extension Digest: Comparable {
    /// Whether `x` sorts before `y`, byte by byte.
    public static func < (x: Digest, y: Digest) -> Bool {
        (x.a, x.b, x.c, x.d) < (y.a, y.b, y.c, y.d)
    }
}

extension Digest: CustomStringConvertible {
    public var description: String { hex }
}
